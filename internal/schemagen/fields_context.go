package schemagen

import "github.com/windlass-run/windlass/cascade"

// manyChars bounds sizes of text, far above what any model reads; manyWeight bounds weights, of which only the proportion
// matters.
const (
	manyChars  = "1000000000"
	manyWeight = "1000"
)

func autoContextFields() map[string]field {
	return map[string]field{
		"intra_phase": {text: "What becomes of older messages inside every phase that asks a model. A phase changes it, field by field, with intra_context."},
		"inter_phase": {text: "What is selected of earlier phases for every phase whose context has the mode auto. A phase changes it, field by field, with anchors and selection in its context.", examples: []any{map[string]any{"strategy": "hybrid", "selector_model": "gpt-5-nano"}}},
	}
}

func intraFields() map[string]field {
	d := cascade.DefaultIntra()
	return map[string]field{
		"enabled":                 {text: "Whether the settings apply. If false, full history is sent, under the guard.", def: d.Enabled},
		"window":                  {text: "The newest turns in which nothing of the model's is cut. In older ones long call arguments are cut, and texts to reasoning_limit. A turn is an answer of the model with the tool results that follow it.", def: d.Window, min: "0", max: manyTurns},
		"mask_observations_after": {text: "Tool results older than this many turns may be masked: a placeholder stands for them, and the tool recall returns them.", def: d.MaskAfter, min: "1", max: manyTurns},
		"min_masked_size":         {text: "Tool results of fewer characters are never masked.", def: d.MinMaskedSize, min: "0", max: manyChars},
		"advance":                 {text: "When old tool results are masked: cost when it pays by the model's prices, every_turn at once, step every step_turns turns.", def: d.Advance},
		"step_turns":              {text: "With advance step: the turns between two times of masking.", def: d.StepTurns, min: "1", max: manyTurns},
		"preserve_reasoning":      {text: "Keep older texts of the model, cut to reasoning_limit. If false, a placeholder stands for them.", def: d.PreserveReasoning},
		"reasoning_limit":         {text: "The characters that are kept of an older text.", def: d.ReasoningLimit, min: "1", max: manyChars},
		"preserve_errors":         {text: "Keep the beginning, the end and the lines around the failure of older results that are errors. If false, they are masked like any other.", def: d.PreserveErrors},
		"exclude_tools":           {text: "Tools whose results are neither masked nor cut, unless the guard needs the room.", def: []string{}, examples: []any{[]string{"read_file"}}},
		"compress_loops":          {text: "Begin a retry with the task, the failed answers and their verdicts, and not with all that failed attempts did.", def: d.CompressLoops},
		"loop_history_limit":      {text: "The failed attempts that a retry is shown, the newest.", def: d.LoopHistoryLimit, min: "0", max: manyTurns},
		"loop_output_limit":       {text: "The characters that are kept of a failed attempt's answer.", def: d.LoopOutputLimit, min: "1", max: manyChars},
		"truncation":              {text: "Cut tool results by how recent they are, keeping head and tail. true takes the defaults, false switches it off.", def: false},
		"clear_tool_uses":         {text: "Mask the oldest tool results when a request grows past a number of tokens. true takes the defaults, false switches it off.", def: false},
		"guard":                   {text: "Keeps requests below the model's window. It is on unless this is false.", def: true},
	}
}

const switchText = "Whether the block applies. The block may also be written as true or false."

func truncationFields() map[string]field {
	d := cascade.DefaultTruncation()
	return map[string]field{
		"enabled":        {text: switchText, def: true},
		"recent_results": {text: "The newest tool results, which keep recent_limit characters. The next twice as many keep older_limit, all before them inactive_limit.", def: d.RecentResults, min: "0", max: manyTurns},
		"recent_limit":   {text: "Characters of each of the newest tool results.", def: d.RecentLimit, min: "1", max: manyChars},
		"older_limit":    {text: "Characters of each of the next.", def: d.OlderLimit, min: "1", max: manyChars},
		"inactive_limit": {text: "Characters of each of all before them.", def: d.InactiveLimit, min: "1", max: manyChars},
	}
}

func clearFields() map[string]field {
	d := cascade.DefaultClear()
	return map[string]field{
		"enabled":               {text: switchText, def: true},
		"trigger_tokens":        {text: "A request with this many tokens has its oldest tool results masked.", def: d.TriggerTokens, min: "1", max: manyTokens},
		"keep":                  {text: "The newest tool results, which stay.", def: d.Keep, min: "0", max: manyTurns},
		"clear_at_least_tokens": {text: "Nothing is masked unless it makes the request smaller by this many tokens, because it also rewrites what the provider has cached.", def: d.ClearAtLeastTokens, min: "0", max: manyTokens},
		"exclude_tools":         {text: "Tools whose results stay, beside those of the settings' own exclude_tools.", def: []string{}, examples: []any{[]string{"read_file"}}},
	}
}

func guardFields() map[string]field {
	d := cascade.DefaultIntra().Guard
	return map[string]field{
		"enabled":              {text: switchText + " Without the guard nothing keeps requests short, a token_budget neither.", def: d.Enabled},
		"warn_percent":         {text: "A request above this share of what it may have is warned of, once. Percentages are of the model's window less the reserve for the answer.", def: d.WarnPercent, min: "1", max: "100"},
		"compact_percent":      {text: "Above this share the guard makes room.", def: d.CompactPercent, min: "1", max: "100"},
		"target_percent":       {text: "What the guard makes room down to.", def: d.TargetPercent, min: "1", max: "100"},
		"removal_levels":       {text: "The shares of the tool results, in percent and rising, that are removed one after the other until there is room, from the middle of the history outward.", def: d.RemovalLevels, minItems: 1, items: &field{min: "1", max: "100"}},
		"keep_recent_messages": {text: "The newest messages, of which no tool result is removed. Compaction leaves as they are as many of them as fit.", def: d.KeepRecentMessages, min: "1", max: manyTurns},
		"summarizer_model":     {text: "The model that sums up older messages; by default the phase's own.", examples: []any{"gpt-5-nano"}},
		"recount":              {text: "How a request is counted before the guard acts: tokenizer by the model family's tokenizer or an estimate, probe by a minimal call to the provider.", def: d.Recount},
	}
}

func tokenBudgetFields() map[string]field {
	f := tokenOverrideFields()
	strategy := f["strategy"]
	strategy.def = cascade.BudgetSummarize
	f["strategy"] = strategy
	f["phase_overrides"] = field{
		text:     "Other values for single phases, by the phase's name; what is not set inherits.",
		examples: []any{map[string]any{"research": map[string]any{"max_total": 120000}}},
	}
	return f
}

func tokenOverrideFields() map[string]field {
	return map[string]field{
		"max_total":          {text: "The most tokens of one request and its answer. The model's window still holds where it is smaller.", min: "1", max: manyTokens, examples: []any{60000}},
		"reserve_for_output": {text: "The tokens of max_total that are kept for the answer. Default: the phase's max_output_tokens; else what the model can answer, at most a quarter of its window.", min: "1", max: manyTokens, examples: []any{8000}},
		"strategy":           {text: "What makes room near the ceiling: summarize takes the guard's steps, prune_oldest removes the oldest tool results and then leaves out the oldest turns, sliding_window leaves out the oldest turns, fail fails the phase at the first request above the ceiling."},
		"warning_threshold":  {text: "The share of the ceiling above which a request is warned of. Default: the guard's warn_percent.", above: "0", max: "1", examples: []any{0.8}},
	}
}

func interFields() map[string]field {
	d := cascade.DefaultInter()
	return map[string]field{
		"enabled":        {text: "Whether messages are selected. If false, phases with the mode auto get what their from lists and nothing else.", def: d.Enabled},
		"strategy":       {text: "The same as strategy in selection.", def: d.Selection.Strategy},
		"selector_model": {text: "The same as selector_model in selection.", examples: []any{"gpt-5-nano"}},
		"card_model":     {text: "The model that sums messages up in a sentence or two, in the background: a cheap one. Without it the sentences that say most are taken from them.", examples: []any{"gpt-5-nano"}},
		"cards":          {text: "How the cards are come by that messages are selected on."},
		"anchors":        {text: "What comes in whatever is selected."},
		"selection":      {text: "How messages of earlier phases are chosen."},
	}
}

func cardsFields() map[string]field {
	return map[string]field{
		"wait_seconds": {text: "How long a selection waits for cards that are being made. A message whose card is late is selected on what can be said of it at once.", def: cascade.DefaultInter().Cards.Wait.Seconds(), min: "0", max: "3600"},
	}
}

func anchorsFields() map[string]field {
	d := cascade.DefaultInter().Anchors
	return map[string]field{
		"window":      {text: "The newest turns of each source phase.", def: d.Window, min: "0", max: manyTurns},
		"from_phases": {text: "The source phases: names, all, first, previous (prev).", def: d.FromPhases, examples: []any{[]string{"research"}}},
		"include":     {text: "What else is an anchor: the output of the source phases, their callouts, the run's input, their tool results that are errors.", def: d.Include},
	}
}

func selectionFields() map[string]field {
	d := cascade.DefaultInter().Selection
	return map[string]field{
		"strategy":             {text: "How messages are chosen: heuristic by words, semantic by meaning, llm by a model that reads their summaries, hybrid by words and meaning and then by a model.", def: d.Strategy},
		"max_tokens":           {text: "The most tokens that are chosen, anchors not counted.", def: d.MaxTokens, min: "1", max: manyTokens},
		"max_messages":         {text: "The most messages that are chosen, anchors not counted.", def: d.MaxMessages, min: "1", max: manyTurns},
		"selector_model":       {text: "With llm and hybrid: the model that chooses, a cheap one; by default the phase's own.", examples: []any{"gpt-5-nano"}},
		"recency_weight":       {text: "How much being recent raises what is found by words. It is counted in places, not in time.", def: d.RecencyWeight, min: "0", max: manyWeight},
		"keyword_weight":       {text: "How much words in common with the task count.", def: d.KeywordWeight, min: "0", max: manyWeight},
		"callout_weight":       {text: "How much it counts that a message is a callout.", def: d.CalloutWeight, min: "0", max: manyWeight},
		"similarity_threshold": {text: "With semantic: messages that are less similar to the task than this share of the most similar one are left out.", def: d.SimilarityThreshold, min: "0", max: "1"},
	}
}
