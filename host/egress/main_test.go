package egress_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		// The tests' servers are not behind the proxy of the machine.
		if err := os.Setenv("NO_PROXY", "*"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// childVariable is set in the processes that the tests of proxies start.
const childVariable = "EGRESS_TEST_CHILD"
