// Package locomo measures how well selections find what a later phase needs: on long conversations with questions, each
// with the turns that hold its answer, in the format of LoCoMo (Maharana et al., 2024).
//
// Every turn of a conversation is a candidate, a question is the task, and evidence recall is the share of the turns with
// the answer among those that are chosen under a budget. Cards, embeddings and choices are made by the code that makes
// them in a run; no model chooses. Nothing here reads files by itself or prints.
package locomo
