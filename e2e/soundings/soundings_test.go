//go:build unix

// Package soundings proves what several tries, of which one is kept, promise, with the built program and a strict server
// that bills: killed anywhere, they end as undisturbed ones, and nothing is paid for twice; no candidate sees what another
// one has, and no judge who has made what it judges; no budget is exceeded; and bad input has a clear end.
package soundings

import (
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

var suite = billed.Suite{
	Project: "testdata/project", Prices: &llmtest.Prices{Input: 2000, Cached: 200, Output: 8000},
	ModelPrices: map[string]*llmtest.Prices{
		"ruby-large": {Input: 7310, Cached: 731, Output: 31700},
		"opal-small": {Input: 530, Cached: 53, Output: 1900},
	},
	Expects: func(r *llmtest.Request) (int64, bool) {
		switch head := r.Messages[0].Text(); {
		case strings.HasPrefix(head, "You judge"):
			return 300, true // it may have more, as models reason
		case strings.HasPrefix(head, "You write one answer"):
			return 0, true // it may have any number
		}
		return 0, false
	},
}

func TestMain(m *testing.M) { suite.Main(m) }
