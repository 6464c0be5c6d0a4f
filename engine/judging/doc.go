// Package judging has models choose among the answers of candidates, and write one answer from all of
// them. Ballots and the choice are recorded.
//
// # Why pairs of ballots
//
// A model that is shown several answers favours places: in published measurements of models as judges many
// verdicts change when only the order of the answers does, most often towards the answer that is shown first.
// This is known as position bias. So one ballot proves nothing. Package election has the remedy: random orders,
// each with its reverse, one vote for two ballots that agree, and a test that may be looked at after every pair.
// Tests of that kind are known in statistics as anytime-valid, with e-values as their measure of evidence.
//
// # What a judge sees
//
// The task, the instructions for judges, and the answers, each under a label and between marks. Labels and marks
// are made for each ballot from the seed and from all answers, so no answer can have them, and none of them says
// anything about an answer. Answers are data: no template is rendered from them, and only the label of a
// verdict counts. A judge is not told the model, the number or the cost of a candidate;
// show_costs_to_evaluator tells it the costs.
//
// # Files
//
//   - field.go: who takes part. choose.go: what decides. ballots.go: pairs of ballots.
//   - cost.go, pareto.go: quality and cost.
//   - request.go: what a judge is sent; fit.go: answers that are too long for it. said.go: what it said.
//   - aggregate.go: one answer from all.
//
// The same question has the same choice, whatever the platform and the order of the entrants: a replay
// makes the same requests, and finds their answers recorded.
package judging
