package echo

// StartsGroup reports whether a message begins a group: what a person, or the engine in a person's place, says to the model. A
// group is such a message with all that follows it up to the next one: answers, results of tools, notices.
func StartsGroup(m *Message) bool {
	switch m.Kind() { //nolint:exhaustive // the others answer, or stand before the task
	case KindTask, KindTurnPrompt, KindRetry, KindAudible, KindRetract:
		return true
	}
	return false
}

// Groups returns the number of the group of each message of one visit, from 1. A message before the first group has 0: the system
// message, and what was brought in from other phases.
func Groups(history []Item) []int { return groupsFrom(history, 0) }

// SessionGroups returns the same for visits in their order, as [Session.Phases] has them: the numbers go on from visit to visit, and
// from element to element of a list.
// A message before the first group of its visit has 0.
func SessionGroups(visits []*PhaseRecord) [][]int {
	out, before := make([][]int, len(visits)), 0
	for i, v := range visits {
		out[i] = groupsFrom(v.History, before)
		before += CountGroups(v.History)
	}
	return out
}

// CountGroups returns how many groups a visit has. The first group of the next visit has the number after those of all before it.
func CountGroups(history []Item) (n int) {
	for _, number := range Groups(history) {
		n = max(n, number)
	}
	return n
}

// groupsFrom numbers the groups of a visit that follow a number of others. Those of each element of a list are its own; the list of
// their answers is in none.
func groupsFrom(history []Item, before int) []int {
	out, n := make([]int, len(history)), before
	for from := 0; from < len(history); {
		to := from + 1
		for to < len(history) && history[to].Element == history[from].Element {
			to++
		}
		before = n
		for i := from + firstOf(history[from:to]); i < to; i++ {
			if StartsGroup(history[i].Message) {
				n++
			}
			if n > before {
				out[i] = n
			}
		}
		from = to
	}
	return out
}

// firstOf returns the index of the task of a visit or of an element, 0 where it has none: what was brought in before it may have the task of another
// phase.
func firstOf(history []Item) int {
	for i := len(history) - 1; i > 0; i-- {
		if history[i].Message.Kind() == KindTask {
			return i
		}
	}
	return 0
}
