// Command die reaches a step three times, and says so each time.
package main

import (
	"fmt"

	"github.com/zchost/zchost/host/failpoint"
)

func main() {
	fmt.Println(failpoint.Enabled(), len(failpoint.Names()))
	for n := range 3 {
		failpoint.Hit(failpoint.AdmitBeforeCommit)
		fmt.Println(n + 1)
		failpoint.Hit(failpoint.AdmitAfterCommit)
	}
}
