// Package contextcards makes and keeps cards: a summary, keywords and an embedding for each message
// that is worth one. By its cards a session's messages are chosen for a later phase.
//
// [Extract] makes a card from the message alone. A [Pipeline] makes them in the background, with a
// [Summarizer] and an [Embedder] where there are any, keeps them in memory, and delivers them to a
// [Store], at least once each. Nothing here ever blocks or fails a turn: a card that is late is
// replaced by one that is extracted from the message, and says so.
package contextcards
