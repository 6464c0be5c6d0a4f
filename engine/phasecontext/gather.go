package phasecontext

import (
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// gather returns the anchors and the other turn groups that say something new, in session order.
func (e *Earlier) gather(which cascade.InterAnchors, takenOver map[string]bool) (anchors, candidates []*turnGroup) {
	source := map[*echo.PhaseRecord]bool{}
	for _, name := range which.FromPhases {
		for _, rec := range e.Phases(name) {
			source[rec] = true
		}
	}
	for segment, rec := range e.Messages.Session.Phases {
		if !rec.Done || takenOver[rec.Name] || slices.Contains(e.Exclude, rec.Name) {
			continue
		}
		groups := e.groupsOf(rec)
		for i := range groups {
			groups[i].segment = segment
		}
		if source[rec] {
			markAnchors(groups, which)
		}
		for i := range groups {
			if groups[i].why != "" {
				anchors = append(anchors, &groups[i])
			} else if len(groups[i].sources) > 0 {
				candidates = append(candidates, &groups[i])
			}
		}
	}
	return anchors, unsaid(candidates, anchors)
}

// unsaid leaves out the groups that say what an anchor or a later group says too.
func unsaid(candidates, anchors []*turnGroup) []*turnGroup {
	said := map[string]bool{}
	for _, g := range anchors {
		said[g.hashes()] = true
	}
	var out []*turnGroup
	for _, g := range slices.Backward(candidates) {
		if h := g.hashes(); !said[h] {
			said[h] = true
			out = append(out, g)
		}
	}
	slices.Reverse(out)
	return out
}
