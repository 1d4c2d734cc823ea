package turn

import (
	"fmt"
	"strings"

	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/reliability"
)

// maxSame is how often the model may make the same calls, one iteration after
// the other; then it is told that nothing new will come of it, and after that
// the turn ends.
const maxSame = 3

// habits watches a model that gets nowhere.
type habits struct {
	last    string  // the calls of the iteration before
	before  []*call // the same, with their results
	results string  // those of the iteration before that
	same    int     // how often they came in a row
	invalid bool    // all of them were invalid
}

// judge refuses calls that the turn's limits do not allow. The ending is not
// nil if the turn ends with this iteration.
func (h *habits) judge(list []*call, iteration, most int, a *reliability.Answer) *ending {
	again := h.repeated(list)
	invalid := allInvalid(list)
	twice := invalid && h.invalid
	h.invalid = invalid
	switch {
	case iteration >= most:
		refuseAll(list, "limit", "Not run: the turn has used all its iterations.")
		return limit(a, marker.IncompleteLimit, "STR-6", fmt.Sprintf("the model was asked %d times (max_iterations) and still calls tools: no call of the last answer was run", iteration))
	case twice:
		return limit(a, marker.IncompleteLimit, "STR-6", "the model's calls were invalid twice in a row")
	case again > maxSame+1:
		refuseAll(list, "repeated", "Not run: the same call was made too often.")
		return limit(a, marker.IncompleteLimit, "STR-6", fmt.Sprintf("the model made the same calls %d times in a row", again))
	case again > maxSame:
		refuseAll(list, "repeated", fmt.Sprintf("Not run: this call was made %d times in a row with the same arguments. Its results are above. Do something else, or answer.", maxSame))
	}
	return nil
}

// repeated returns how often these calls came in a row, this time included.
// Calls whose results change are no repetition: something is being waited for.
func (h *habits) repeated(list []*call) int {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "%d:%s%d:%s", len(c.row.Name), c.row.Name, len(c.row.Arguments), c.row.Arguments)
	}
	if h.same < maxSame+1 { // after that the results are the host's own
		results := resultsOf(h.before)
		if h.same > 1 && results != h.results {
			h.same = 1
		}
		h.results = results
	}
	if b.String() != h.last {
		h.last, h.same = b.String(), 0
	}
	h.before = list
	h.same++
	return h.same
}

func resultsOf(list []*call) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "%d:%s", len(c.row.Result), c.row.Result)
	}
	return b.String()
}

func allInvalid(list []*call) bool {
	for _, c := range list {
		if c.tool != nil {
			return false
		}
	}
	return true
}

// refuseAll refuses the calls that are not refused yet.
func refuseAll(list []*call, reason, text string) {
	for _, c := range list {
		if c.tool != nil {
			c.refuse(reason, text)
		}
	}
}
