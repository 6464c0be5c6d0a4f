//go:build unix

// Package trees proves what runs with children, lists, parallel phases and wards promise, with the built program and a
// strict server that bills: every file of testdata/project does what its case says; killed anywhere, a tree of runs ends as
// an undisturbed one, and nothing is paid for twice; no budget is exceeded; what belongs to one branch is in no other's
// requests; and bad input has a clear end.
package trees

import (
	"testing"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

var suite = billed.Suite{Project: "testdata/project", Prices: &llmtest.Prices{Input: 2000, Cached: 200, Output: 8000}}

func TestMain(m *testing.M) { suite.Main(m) }
