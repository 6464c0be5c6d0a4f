package echo

import "time"

// Candidate says which of several tries a branch is. Its key is that of the branch with
// [StepCandidate]; the number of the branch is Index + 1. One whose instructions a model rewrites
// is recorded again once their text is there: the newest counts.
type Candidate struct {
	Index    int       `json:"index"`  // from 0, as templates see it
	Factor   int       `json:"factor"` // how many candidates the step has when it begins
	Model    string    `json:"model,omitempty"`
	Mutation *Mutation `json:"mutation,omitempty"` // nil: the instructions are as the file has them
	Species  string    `json:"species,omitempty"`  // 16 hexadecimal digits: the hash of what makes rewrites comparable

	// Context are the settings of its views where it has a model of its own; nil: those of the visit.
	Context *PhaseContext `json:"context,omitempty"`
}

// Mutation is how the instructions of a candidate differ from those of the file.
type Mutation struct {
	Mode  string `json:"mode"`           // rewrite, augment or approach
	Entry string `json:"entry"`          // of mutations, or a built-in one
	Text  string `json:"text,omitempty"` // rewrite: the instructions as the model has rewritten them
}

// WithText returns the mutation with instructions as a model has rewritten them.
func (m Mutation) WithText(text string) *Mutation {
	m.Text = text
	return &m
}

// Seed is what decides by chance for the candidates of a visit: the orders in which judges see them, and
// models that are dealt at random. It is the same in a fork, and in a run with the recorded answers.
type Seed struct {
	Seed string `json:"seed"`
}

// WinningRewrites are rewrites of the same species that have won before, the newest first.
type WinningRewrites struct {
	Texts []string `json:"texts"`
}

// Room says whether the budget covers one more candidate and its judging, of a phase that adds them as
// it needs them.
type Room struct {
	Covers       bool    `json:"covers"`
	NeededUSD    float64 `json:"needed_usd,omitempty"` // by the estimate; 0: no limit counts USD
	LeftUSD      float64 `json:"left_usd,omitempty"`
	NeededTokens int64   `json:"needed_tokens,omitempty"` // likewise; 0: no limit counts tokens
	LeftTokens   int64   `json:"left_tokens,omitempty"`
	Unknown      bool    `json:"unknown,omitempty"` // a limit counts USD, and what some calls cost is not known
}

// Ballot is what a judge said of candidates that it was shown. Candidates are named by the numbers of
// their branches; 0 is the best answer of the steps before, in a step of refinement.
type Ballot struct {
	Step    int      `json:"step,omitempty"`    // of refinement, from 1; 0: the first choice
	Pair    int      `json:"pair,omitempty"`    // from 1; 0: a score
	Reverse bool     `json:"reverse,omitempty"` // of a pair: the second order, the reverse of the first
	Judge   string   `json:"judge"`             // the model that was asked
	Order   []int    `json:"order"`             // as they were shown; a score has one
	Labels  []string `json:"labels,omitempty"`  // by which the judge knew them, in the same order
	Said    string   `json:"said,omitempty"`    // the label, or "tie"; "": no verdict
	Winner  *int     `json:"winner,omitempty"`  // the candidate of that label; nil: a tie, no verdict, or a score
	Score   *float64 `json:"score,omitempty"`   // 0 to 10
	Why     string   `json:"why,omitempty"`
	Problem string   `json:"problem,omitempty"` // why there is no verdict

	// Of the second ballot of a pair: the vote that the pair came to, and the e-values after it, by
	// the candidates of Order.
	Vote     *int      `json:"vote,omitempty"` // nil: the two differ, or one is none
	EValues  []float64 `json:"e_values,omitempty"`
	Evidence *Evidence `json:"evidence,omitempty"`

	CostUSD *float64 `json:"cost_usd,omitempty"` // nil: not known
}

// Evidence is how far an election is after a pair: what a choice has as its e-value, and what it needs for a winner.
type Evidence struct {
	EValue float64 `json:"e_value"`
	Needed float64 `json:"needed"`
}

// Choice says which candidate of a step is kept, and why. Its key is that of the visit, of the step of
// refinement or of the run, with [StepChoice].
type Choice struct {
	Step       int        `json:"step,omitempty"` // as in [Ballot]
	Winner     int        `json:"winner"`         // the number of its branch; 0: the best of the steps before stays; -1: none, as one answer was written from all, or all were rejected
	How        ChoiceHow  `json:"how"`
	Tie        bool       `json:"tie,omitempty"`        // no candidate had enough confidence
	Confidence float64    `json:"confidence,omitempty"` // that was asked for
	Needed     float64    `json:"needed,omitempty"`     // the e-value that a winner needs: 1 / (1 - Confidence), more where rounds share the doubt
	EValue     float64    `json:"e_value,omitempty"`    // of the test at its end: against "no candidate is preferred"
	Pairs      int        `json:"pairs,omitempty"`      // of ballots
	Flipped    int        `json:"flipped,omitempty"`    // of those: the judge named another one when the order was reversed
	CostUSD    *float64   `json:"cost_usd,omitempty"`   // of the judging; nil: not known
	Standings  []Standing `json:"standings"`            // by the numbers of the candidates
	Prefix     *Prefix    `json:"prefix,omitempty"`
	Room       *Room      `json:"room,omitempty"` // why no candidate was added to a tie, of a phase that adds them; nil: the budget was not the reason

	// Frontier are the answers by quality and cost, where show_frontier asks for that.
	Frontier []FrontierPoint `json:"frontier,omitempty"`

	Person *Chooser `json:"person,omitempty"` // the person who was asked; nil: none was
}

// Chooser is a person who was asked to choose, and what that person said. How a person ranks and rates is in the standings.
type Chooser struct {
	Order    []int     `json:"order"`               // the candidates as they were shown, see [Ballot]
	Labels   []string  `json:"labels"`              // by which they were known, in the same order
	Said     string    `json:"said,omitempty"`      // the label, "tie" or "none"; "": candidates were ranked or rated, or nobody answered
	Why      string    `json:"why,omitempty"`       // in the words of the person
	By       string    `json:"by,omitempty"`        // as in [Answer]
	Via      Via       `json:"via,omitempty"`       // likewise
	At       time.Time `json:"at"`                  // likewise
	TimedOut bool      `json:"timed_out,omitempty"` // nobody has answered in time: something else decided
}

// FrontierPoint is one answer in a choice by the frontier of quality and cost.
type FrontierPoint struct {
	Number      int      `json:"number"`                 // of the candidate
	Quality     float64  `json:"quality"`                // 0 to 1
	WeighedUSD  *float64 `json:"weighed_usd"`            // the cost as it was weighed; nil: not known
	DominatedBy []int    `json:"dominated_by,omitempty"` // those that are as good and as cheap, and better or cheaper; none: it is on the frontier
}

// ChoiceHow says what decided.
type ChoiceHow string

// What can decide.
const (
	ChoiceOnly      ChoiceHow = "only"      // one candidate was left to choose from
	ChoiceSame      ChoiceHow = "same"      // all answers were the same
	ChoiceVotes     ChoiceHow = "votes"     // the ballots, with enough confidence
	ChoiceCheapest  ChoiceHow = "cheapest"  // a tie: the cheapest of those that are not beaten
	ChoiceFirst     ChoiceHow = "first"     // a tie: the first of those that are not beaten
	ChoiceUnpriced  ChoiceHow = "unpriced"  // likewise, where the cheapest was to be kept and no cost of these is known
	ChoiceCost      ChoiceHow = "cost"      // votes and cost together
	ChoicePareto    ChoiceHow = "pareto"    // the policy of the frontier
	ChoiceAggregate ChoiceHow = "aggregate" // one answer is written from all
	ChoicePerson    ChoiceHow = "person"    // a person
	ChoiceNone      ChoiceHow = "none"      // a person has rejected all: none is kept
)

// Standing is what became of one candidate in a choice.
type Standing struct {
	Number  int            `json:"number"`
	State   CandidateState `json:"state"`
	Why     string         `json:"why,omitempty"`     // it failed, or was rejected
	SameAs  int            `json:"same_as,omitempty"` // the first candidate with the same answer
	Copies  int            `json:"copies,omitempty"`  // answers that are the same, this one included
	Votes   int            `json:"votes"`             // pairs that named it
	EValue  float64        `json:"e_value,omitempty"`
	Quality *float64       `json:"quality,omitempty"` // 0 to 1: the share of votes, or of points
	Value   *float64       `json:"value,omitempty"`   // of quality and cost together
	Rank    int            `json:"rank,omitempty"`    // by the person who has put all in order, from 1; 0: none has
	Rating  int            `json:"rating,omitempty"`  // by the person who has rated each, from 1 to 5; 0: none has
	CostUSD *float64       `json:"cost_usd,omitempty"`
	Tokens  int64          `json:"tokens"` // in and out
	Hash    Hash           `json:"hash,omitempty"`
}

// CandidateState is what became of a candidate.
type CandidateState string

// What can become of one.
const (
	CandidateWon       CandidateState = "won"
	CandidateLost      CandidateState = "lost"
	CandidateSame      CandidateState = "same"      // its answer is that of another candidate
	CandidateRejected  CandidateState = "rejected"  // by a check before the judging
	CandidateDominated CandidateState = "dominated" // another one is better and cheaper
	CandidateFailed    CandidateState = "failed"
	CandidateUsed      CandidateState = "used" // for the answer that was written from all
)

// Prefix is what candidates that shared the beginning of their first requests saved.
type Prefix struct {
	Shared   int64    `json:"shared"`              // tokens, as windlass counts them
	Waited   int      `json:"waited"`              // candidates that began when another one's answer did
	Cached   int64    `json:"cached"`              // tokens that their first calls read from the cache
	SavedUSD *float64 `json:"saved_usd,omitempty"` // nil: not known
}

func (Candidate) kind() kind       { return kind{node: NodeCandidate} }
func (Seed) kind() kind            { return kind{NodeValue, StepSeed} }
func (WinningRewrites) kind() kind { return kind{NodeValue, StepWinners} }
func (Room) kind() kind            { return kind{NodeValue, StepRoom} }
func (Ballot) kind() kind          { return kind{node: NodeBallot} }
func (Choice) kind() kind          { return kind{node: NodeChoice} }
