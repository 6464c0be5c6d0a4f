package soundings

import "cmp"

// Mutates reports whether the instructions of candidates differ: as the file says, else when it says how.
func (s *Soundings) Mutates() bool {
	if s.Mutate != nil {
		return *s.Mutate
	}
	return s.MutationMode != "" || len(s.Mutations) > 0
}

// MutatesBy returns how the instructions are changed, where they are.
func (s *Soundings) MutatesBy() MutationMode { return cmp.Or(s.MutationMode, Rewrite) }

// Entry returns what changes the instructions of a candidate, by its index from 0; "" for the first one,
// whose instructions are those of the file. It does not ask whether the instructions are changed at all:
// a step of refinement decides that for itself.
func (s *Soundings) Entry(index int) string {
	entries := s.Mutations
	if len(entries) == 0 {
		entries = BuiltinMutations(s.MutatesBy())
	}
	if index < 1 || len(entries) == 0 {
		return ""
	}
	return entries[(index-1)%len(entries)]
}

// BuiltinMutations returns the entries of a mode for files without any of their own.
func BuiltinMutations(mode MutationMode) []string {
	switch mode {
	case Rewrite:
		return []string{
			"Make the instructions more precise: replace vague words by what is to be checked, counted or shown. Keep their scope.",
			"Break the instructions into numbered steps in the order in which they are best done, each with its result.",
			"Shorten the instructions to what changes the answer. Keep every requirement, drop repetition and courtesy.",
			"State first what a good answer looks like and how one would recognise it; then give the task.",
			"Name the mistakes that are most likely with this task, and say how each is to be avoided.",
			"Write the instructions from the point of view of the person who will use the answer, and say what that person needs to decide or do with it.",
			"Have the answer say which assumptions it makes and what would change if they were wrong.",
			"Turn the instructions into questions whose answers together complete the task, from the basic one to the difficult one.",
		}
	case Augment:
		return []string{
			"Before you answer, list for yourself what the task requires, and check the answer against that list at the end.",
			"You are an expert with long practice in this field. Where experts would disagree with the usual answer, follow the experts and say why.",
			"Think of at least three different ways to do this, weigh them, and carry out only the best one.",
			"Prefer facts that can be checked to general statements. Leave out what you cannot support.",
			"Look for the cases that do not fit: empty, extreme, contradictory or missing input. The answer has to hold for them, too.",
			"Write for a reader who knows the field but not this case: plain words, short sentences, the result first.",
			"Take the task literally. Do all that it asks for and nothing that it does not ask for.",
			"Draft an answer, criticise it as a strict reviewer would, and give only the version that has been corrected.",
		}
	case Approach:
		return []string{
			"Work backwards: begin with the result that is wanted and ask at each step what has to be true before it.",
			"Begin with the simplest solution that could work, and add to it only what a requirement forces you to add.",
			"Divide the task into parts that do not depend on each other, solve each by itself, and then join them.",
			"Look for a similar problem with a known solution, and adapt that solution to what is different here.",
			"Begin with the hardest requirement. What satisfies it decides the shape of everything else.",
			"Go from examples: work through two or three concrete cases first, and generalise from what they have in common.",
			"Question the premise: say what problem lies behind the task, and choose the answer that solves that problem.",
			"Compare two opposite solutions point by point, and combine what is strongest in each.",
		}
	}
	return nil
}
