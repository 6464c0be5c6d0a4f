// Package engine runs cascades: run -> phase -> attempt -> turn.
//
// The engine is a deterministic function of the cascade, the input and the outcomes of effects.
// Everything paid for or not deterministic (a model call, a tool call, the clock) goes through
// [effect.Effects] under a structural key and is durable before anything outside the process
// depends on it. The package knows neither ClickHouse nor a provider.
//
// Read it top down, one level a file:
//
//   - runner.go: what a caller gives and gets: [Runner], [Spec], [Result].
//   - run.go: a run visits one phase after the other; route.go says which one follows.
//   - phase.go: a visit to a phase makes attempts until an answer passes; toolphase.go is one
//     without a model.
//   - attempt.go: an attempt takes turns until the model answers, loop_until passes, or the turns
//     are used up.
//   - turn.go: a turn is one model call, and the tool calls of its answer.
//
// The parts of a visit share the place where it is (record.go):
//
//   - opening.go: system message, context of earlier phases, task.
//   - views.go, guard.go, settings.go: what each call is sent, what is done when it does
//     not fit, and what is known of models.
//   - calls.go: model calls within the budget.
//   - toolset.go, toolcall.go, owntools.go: the tools of a phase and their calls.
//   - validators.go: output_schema and loop_until. templates.go: the templates of a phase. handoff.go:
//     the report at its end.
//
// All of them record through the recorder (record.go, mask.go), which also answers a replay.
// rules.go says what a change may do to recorded runs, resume.go what a resumed run sets aside.
//
// One goroutine owns a run and everything in it; only tool calls leave it, through the recorder.
package engine
