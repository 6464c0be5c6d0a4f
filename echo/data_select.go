package echo

import "errors"

// Strategy is a way to choose what a phase gets from earlier ones.
type Strategy string

// The strategies.
const (
	StrategyHeuristic Strategy = "heuristic" // by words, with recency and callouts
	StrategySemantic  Strategy = "semantic"  // by similarity of embeddings
	StrategyLLM       Strategy = "llm"       // a model chooses from a menu of summaries
	StrategyHybrid    Strategy = "hybrid"    // words and similarity choose twice the budget, then a model

	// StrategyPrefilter is what hybrid falls back to without its model. It cannot be asked for.
	StrategyPrefilter Strategy = "prefilter"
)

// InterSelection is what came into a phase from earlier ones.
type InterSelection struct {
	Selected
	Anchors      []Anchor `json:"anchors"`                 // in the order of their places in the session
	AnchorTokens int64    `json:"anchor_tokens"`           // of all of them; they do not count against the budget
	Everything   int64    `json:"everything_tokens"`       // what sending all of the earlier phases would take
	Ending       int64    `json:"ending_tokens,omitempty"` // of the line behind what comes in, which the budget has to have room for
	CardsUsed
}

// Sent returns the tokens of the groups that came in, anchors included. They are a part of
// Everything and counted like it: with a line before each candidate, without the one behind all.
func (d *InterSelection) Sent() int64 {
	sent := d.AnchorTokens
	for i := range d.Scores {
		if d.Scores[i].Chosen {
			sent += d.Scores[i].Tokens
		}
	}
	return sent
}

// Selected is the outcome of a selection among turn groups.
type Selected struct {
	Asked    Strategy `json:"asked"`
	Strategy Strategy `json:"strategy"` // that was used
	Notes    []string `json:"notes,omitempty"`
	Ignored  []string `json:"ignored,omitempty"` // ids that the model gave and that mean nothing
	Why      string   `json:"why,omitempty"`     // in the words of the model that chose

	Candidates      int   `json:"candidates"`
	CandidateTokens int64 `json:"candidate_tokens"` // what sending all of them would take
	Budget          int64 `json:"budget"`
	Used            int64 `json:"used"`
	Messages        int   `json:"messages"`

	Chosen []Hash  `json:"chosen"` // groups, in the order of their places in the session
	Scores []Score `json:"scores"` // of every candidate, in that order
}

// Score says how a turn group came to its place.
type Score struct {
	ID         Hash     `json:"id"` // of its first message
	Phase      string   `json:"phase"`
	Tokens     int64    `json:"tokens"`
	Messages   int      `json:"messages"`
	Keyword    float64  `json:"keyword"` // relevance by words, 0 to 1, neighbours included
	Recency    float64  `json:"recency"` // 0 to 1
	Callout    bool     `json:"callout,omitempty"`
	Similarity *float64 `json:"meaning,omitempty"` // to the task, -1 to 1
	Total      float64  `json:"total"`             // by which it was ranked, before a model chose; 0: it was not ranked
	Rank       int      `json:"rank"`              // from 1, in which it was taken; 0: it was not up for choice
	Chosen     bool     `json:"chosen"`
	Late       bool     `json:"late,omitempty"` // its card was not ready: extracted
}

// Anchor is a turn group that came in whatever was selected.
type Anchor struct {
	ID       Hash   `json:"id"`
	Phase    string `json:"phase"`
	Why      string `json:"why"` // window, or one of what anchors include
	Messages int    `json:"messages"`
	Tokens   int64  `json:"tokens"`
}

// CardsUsed says on what a selection was made.
type CardsUsed struct {
	Digest   string   `json:"cards_digest"` // SHA-256 over the cards and similarities of all candidates
	Late     int      `json:"late_cards,omitempty"`
	Embedder string   `json:"embedder,omitempty"` // that similarities are from
	Degraded []string `json:"degraded,omitempty"` // what was done in another way than asked for, and why
	Millis   float64  `json:"took_ms"`            // waiting for cards and ranking them
}

// Findings is a reading of what was known of the candidates of a selection that a model makes.
type Findings struct {
	CardsUsed
	Found []Found `json:"found"` // of each candidate
}

// Found is what was known of one candidate.
type Found struct {
	Cards      []FoundCard `json:"cards"`
	Similarity *float64    `json:"meaning,omitempty"` // of the message that is most similar to the task
}

// FoundCard is the card of a message, as far as a selection uses it.
type FoundCard struct {
	Hash     Hash     `json:"hash"`
	Summary  string   `json:"summary"`
	Keywords []string `json:"keywords,omitempty"`
	Late     bool     `json:"late,omitempty"`
}

// Menu is what a model was asked that chooses what comes in.
type Menu struct {
	Model    string        `json:"model"`
	Messages []MenuMessage `json:"messages"`
}

// MenuMessage is a message of a [Menu].
type MenuMessage struct {
	Role Role   `json:"role"`
	Text string `json:"text"`
}

func (Menu) kind() kind           { return kind{node: NodeMenu} }
func (InterSelection) kind() kind { return kind{node: NodeInter} }
func (Findings) kind() kind       { return kind{NodeValue, StepCards} }

func (d *InterSelection) check() error {
	if d.Strategy == "" {
		return errors.New("it names no strategy")
	}
	return nil
}
