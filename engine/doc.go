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
//   - phase.go: a visit to a phase; toolphase.go is one without a model.
//   - conversation.go: attempts until an answer passes.
//   - attempt.go: an attempt takes turns until the model answers, loop_until passes, or the turns
//     are used up.
//   - turn.go: a turn is one model call, and the tool calls of its answer.
//
// Parts of a run run in parallel, each in a branch (branch.go) with its own view of what the run has come
// to: graph.go runs phases in the order that their "after" makes, each.go a phase for each element of a list,
// wards.go the validators around a phase, tries.go several tries of a phase, of which one is kept, whole.go those of
// the whole cascade. children.go begins other cascades, which are sessions of their own.
//
// The parts of a visit share the place where it is:
//
//   - package core: the recorder, through which all of them record and which also answers a replay; the place;
//     model calls within the budget; the rules of recorded runs.
//   - package views: what each call is sent. Package toolset: what a phase can call.
//   - package texts: templates. Package sounding: how several tries come to one answer.
//   - opening.go: system message, context of earlier phases, task.
//   - toolcall.go, owntools.go: the calls of tools.
//   - package checks: output_schema, and who is asked by loop_until and wards. childvalidator.go runs the cascades
//     that judge.
//   - handoff.go: the report at its end.
//
// resume.go says what a resumed run sets aside, forkgraph.go what a fork of a graph keeps; public.go has the names of the parts that callers know.
//
// One goroutine owns a run, and one each branch; only tool calls leave them, through the recorder.
package engine
