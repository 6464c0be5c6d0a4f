// Package contextcards will hold the cards by which messages are selected between phases. It is empty in this version:
// context.mode "auto" is refused by the loader until it is there.
package contextcards
