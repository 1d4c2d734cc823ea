package terminal_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files again")
	goleak.VerifyTestMain(m)
}
