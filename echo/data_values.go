package echo

// Clock is a reading of the clock: for how many seconds the run has been active.
type Clock float64

// BackgroundTotals is what background calls have taken since the reading before.
type BackgroundTotals struct {
	Calls        int     `json:"model_calls"`
	Usage        Usage   `json:"usage"`
	CostUSD      float64 `json:"cost_usd"`      // of the calls whose cost is known
	UnknownCosts int     `json:"unknown_costs"` // calls whose cost is not known
	Scripted     bool    `json:"scripted,omitempty"`
	Limited      bool    `json:"limited_usd,omitempty"` // the budget limited the cost when the reading was taken
}

// Idle is how long a phase has sent no request, read when a provider's prefix cache has expired.
type Idle struct {
	Seconds float64 `json:"idle_seconds"`
}

// Similarity is how similar messages of the session are to a query, by their embeddings.
type Similarity struct {
	Embedder string           `json:"embedder,omitempty"`
	Messages map[Hash]float64 `json:"similarity,omitempty"`
	Problem  string           `json:"problem,omitempty"` // why nothing could be compared
}

func (Clock) kind() kind            { return kind{NodeValue, StepClock} }
func (BackgroundTotals) kind() kind { return kind{NodeValue, StepBackground} }
func (Idle) kind() kind             { return kind{NodeValue, StepIdle} }
func (Similarity) kind() kind       { return kind{NodeValue, StepSimilarity} }
