// Package contextcards makes and keeps cards: a summary, keywords and an embedding for each message that is worth one. By
// its cards a session's messages are chosen for a later phase.
//
// Cards are made in the background by a [Pipeline]. Nothing here ever blocks or fails a turn: a card that is late is
// replaced by one that is extracted from the message, and says so.
package contextcards
