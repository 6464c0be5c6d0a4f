// Package waiting has what a run asks people: forms, what answers them, and what a model is told of an
// answer.
//
//   - ask.go: the tools by which a model asks, and the forms that they make.
//   - answer.go: which values answer a form.
//   - told.go: what a model is told.
//   - approve.go: which calls need approval, and what a decision lets run.
package waiting
