// Command tool-dice is a tool plugin that computes: how likely it is to roll a
// total with some dice. docs/adding-a-tool.md walks through it.
package main

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/tool"
)

type dice struct{}

func init() { tool.Register(dice{}) }

func main() {}

// Tools lists the one tool. The description is all that a model knows of it.
func (dice) Tools(abi.Raw) ([]abi.ToolSpec, error) {
	return []abi.ToolSpec{{
		Name:        "dice_odds",
		Description: "Computes how likely it is that dice, such as 3d6, give at least a total. Exact, not simulated.",
		InputSchema: abi.Raw(`{"type":"object","properties":{` +
			`"dice":{"type":"string","description":"How many dice with how many sides, as 3d6: at most 50 dice, 2 to 100 sides."},` +
			`"total":{"type":"integer","description":"The least total that counts."}},` +
			`"required":["dice","total"],"additionalProperties":false}`),
		Effect: abi.EffectNone,
	}}, nil
}

// Call runs the tool. What the model can put right is a result, not an error.
func (dice) Call(c *tool.Call) (abi.ToolResult, error) {
	var roll string
	var total int64
	s := jsonscan.New(c.Arguments)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "dice":
			roll = s.String()
		case "total":
			total = s.Int()
		}
	}
	if err := s.End(); err != nil {
		return abi.ToolResult{}, err
	}
	count, sides, ok := parse(roll)
	if !ok {
		return tool.Failed("Write the dice like 3d6: at most 50 dice, 2 to 100 sides."), nil
	}
	percent := strconv.FormatFloat(100*odds(count, sides, total), 'f', 2, 64)
	return tool.Text(roll + " gives at least " + strconv.FormatInt(total, 10) + " with a probability of " + percent + " %."), nil
}

// parse reads 3d6.
func parse(roll string) (count, sides int, ok bool) {
	before, after, found := strings.Cut(strings.ToLower(strings.TrimSpace(roll)), "d")
	count, err := strconv.Atoi(before)
	sides, err2 := strconv.Atoi(after)
	return count, sides, found && err == nil && err2 == nil && count >= 1 && count <= 50 && sides >= 2 && sides <= 100
}

// odds adds one die after the other: chance[t] is how likely the total t is.
func odds(count, sides int, total int64) float64 {
	chance := []float64{1}
	for range count {
		next := make([]float64, len(chance)+sides)
		for t, p := range chance {
			for side := 1; side <= sides; side++ {
				next[t+side] += p / float64(sides)
			}
		}
		chance = next
	}
	sum := 0.0
	for t, p := range chance {
		if int64(t) >= total {
			sum += p
		}
	}
	return sum
}
