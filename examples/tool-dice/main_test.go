package main

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/zchost/zchost/sdk/tool"
	"github.com/zchost/zchost/sdk/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	tooltest.Run(t, tool.Native(dice{}, nil), tooltest.Suite{Cases: []tooltest.Case{
		{Tool: "dice_odds", Arguments: `{"dice":"1d6","total":4}`, Want: tool.Text("1d6 gives at least 4 with a probability of 50.00 %.")},
		{Tool: "dice_odds", Arguments: `{"dice":"3d6","total":17}`, Want: tool.Text("3d6 gives at least 17 with a probability of 1.85 %.")},
		{Tool: "dice_odds", Arguments: `{"dice":"2d6","total":-1}`, Want: tool.Text("2d6 gives at least -1 with a probability of 100.00 %.")},
		{Tool: "dice_odds", Arguments: `{"dice":"many","total":4}`, Want: tool.Failed("Write the dice like 3d6: at most 50 dice, 2 to 100 sides.")},
	}})
}
