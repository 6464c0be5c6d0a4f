// Package contextcards makes and keeps cards: a summary, keywords and an embedding of each message
// that is worth one, by which messages are chosen for a later phase.
//
// [Extract] makes a card from the message alone. A [Pipeline] makes them in the background and
// delivers each to a [Store] at least once. Nothing here blocks or fails a turn: an extracted card
// stands in for a late one, and says so.
package contextcards
