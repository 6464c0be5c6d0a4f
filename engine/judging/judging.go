package judging

import (
	"context"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
)

// Entrant is a candidate as the choice sees it.
type Entrant struct {
	Number   int    // of its branch, from 1; 0: the best answer of the steps before
	Text     string // its answer as it is recorded, without secrets; that of a failed one is empty
	Hash     echo.Hash
	Failed   string   // why it failed; "": it did not
	Rejected string   // why a free check rejected it; "": none did
	CostUSD  *float64 // that it took; nil: not known
	Weighed  *float64 // the same as choices weigh it: what a shared prefix costs is shared, too; nil: as it is
	Tokens   int64    // in and out
	Model    string
	Mutation *echo.Mutation
}

// Question is what is to be chosen.
type Question struct {
	Key      echo.Key // of the visit, the step of refinement, or the run
	Step     int      // of refinement, from 1; 0: the first choice
	Task     string   // what the candidates were asked, as the file has it: rendered, without mutations; "": not known
	Seed     string   // of the orders: the same in every replay
	Settings *soundings.Soundings
	Entrants []Entrant // in any order
	Prefix   *echo.Prefix

	// Of a phase that adds candidates while there is no winner.
	Before *echo.Choice // the tie of the round before; its pairs, flips and cost count, and ballots are numbered on
	Rounds int          // how many there are at most; 0 and 1: this one. Each adds a candidate to those that it begins with
	Open   bool         // more candidates may be added: a tie is returned and not recorded, see [Record]
}

// Bench is what the judging needs of the run. The engine implements it.
type Bench interface {
	// Model is the model of the run, for judges without one of their own.
	Model() string
	// Place is the place of the visit, or that of the run.
	Place() *core.Place
	// Instructions renders a template of the file with more variables. It is called between branches.
	Instructions(field, source string, more map[string]any) (string, error)
	// Calls returns what makes the calls of the trunk.
	Calls() *core.Calls
	// Each does one thing in a branch for each key, at the same time, and counts what that took. The
	// place of calls is that of the branch.
	Each(ctx context.Context, keys []echo.Key, do func(ctx context.Context, i int, calls *core.Calls) error) error
}

// Record records a choice. It returns what counts: the recorded one where that follows from what was redacted since.
// The error is a [*RejectedError] where a person has rejected all candidates.
func Record(b Bench, q *Question, c *echo.Choice) (*echo.Choice, error) {
	kept, err := core.Follow(b.Place().Rec, q.Key.Step(echo.StepChoice), *c)
	if err == nil && kept.How == echo.ChoiceNone {
		e := &RejectedError{}
		if p := kept.Person; p != nil {
			e.By, e.Candidates, e.Why = p.By, len(p.Order), p.Why
		}
		return nil, e
	}
	return &kept, err
}
