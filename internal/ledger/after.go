package ledger

// After returns how many sessions have come back to a ledger after each entry, by its number from 1; [0] has all of them.
// The sessions are those of its entries in their order, "" where an entry is of none.
func After(sessions []string) []int {
	after := make([]int, len(sessions)+1)
	known := map[string]bool{"": true}
	for i := len(sessions) - 1; i >= 0; i-- {
		known[sessions[i]] = true
		after[i] = len(known) - 1
	}
	return after
}
