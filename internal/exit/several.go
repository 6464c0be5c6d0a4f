package exit

import "slices"

// Several returns the exit code of a command that ran several cascades, by those of the runs: [Budget] where one
// reached a limit of money, else [Failed] where one did not end well, else [Waiting] where runs wait, else [OK].
func Several(codes []int) int {
	switch {
	case slices.Contains(codes, Budget):
		return Budget
	case slices.ContainsFunc(codes, func(c int) bool { return c != OK && c != Waiting }):
		return Failed
	case slices.Contains(codes, Waiting):
		return Waiting
	}
	return OK
}
