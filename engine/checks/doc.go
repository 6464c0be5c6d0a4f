// Package checks judges answers: that they have text, output_schema, and the validators of loop_until, of wards and
// of soundings. It records verdicts; what follows from them is the engine's.
//
//   - validators.go: [Checks] judges the answers of a phase, [Validators] asks one validator: a rule, a model, a tool,
//     a command.
//   - cascade.go: another cascade judges. The engine runs it, as [Children].
//   - answer.go: what of an answer is judged. verdicts.go: what validators are shown, and what their answers say.
package checks
