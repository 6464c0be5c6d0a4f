// Package simulate replays recorded conversations under context policies, without a model: what
// each call would have been sent, what a prefix cache would have shared, what it would have cost,
// and what would have been lost.
//
// The views are those of [autocontext.Builder], so a simulation shows what a run would do. They are
// measured here, from the messages as sent, and not by the builder's own report.
package simulate
