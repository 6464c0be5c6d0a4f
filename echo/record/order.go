package record

import (
	"encoding/json"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// Latest returns those of some phases of a graph that no other of them is after, by their numbers in the
// file and in the order of these: of what all have set, the last decides.
func Latest(phases []int, after func(a, b int) bool) []int {
	latest := slices.DeleteFunc(slices.Clone(phases), func(n int) bool {
		return slices.ContainsFunc(phases, func(o int) bool { return after(o, n) })
	})
	slices.Sort(latest)
	return latest
}

// order has the numbers of the phases that each phase of a graph is after, directly or through others.
type order map[int]map[int]bool

// orderOf returns the order of a cascade, as the start of its run has it; none when it does not say.
func orderOf(start *echo.Entry) order {
	var header struct {
		Cascade struct {
			Phases []struct {
				Name  string   `json:"name"`
				After []string `json:"after"`
			} `json:"phases"`
		} `json:"cascade"`
	}
	if start == nil {
		return nil
	}
	d, err := echo.Read[echo.RunStart](start)
	if err != nil || json.Unmarshal(d.Header, &header) != nil {
		return nil
	}
	numbers := map[string]int{}
	for i, p := range header.Cascade.Phases {
		numbers[p.Name] = i + 1
	}
	out := order{}
	var before func(n int) map[int]bool
	before = func(n int) map[int]bool {
		if out[n] != nil {
			return out[n]
		}
		all := map[int]bool{}
		out[n] = all // also when the file has a circle
		for _, name := range header.Cascade.Phases[n-1].After {
			if at := numbers[name]; at > 0 {
				all[at] = true
				for up := range before(at) {
					all[up] = true
				}
			}
		}
		return all
	}
	for n := range header.Cascade.Phases {
		before(n + 1)
	}
	return out
}

// last returns which of the branches counts that have set something, nil when none has: of phases of a
// graph the one that [Latest] says, of others the last. What handles the error of a phase has the
// phase's number, and stands behind it.
func (o order) last(branches []*branch, has func(*branch) bool) *branch {
	var phases []int
	by := map[int]*branch{}
	for _, b := range slices.Backward(branches) {
		switch {
		case !has(b):
		case !b.isNode():
			return b
		case by[b.Step.Number] == nil:
			by[b.Step.Number] = b
			phases = append(phases, b.Step.Number)
		}
	}
	if len(phases) == 0 {
		return nil
	}
	latest := Latest(phases, func(a, b int) bool { return o[a][b] })
	return by[latest[len(latest)-1]]
}

func (b *branch) isNode() bool { return b.Step.Kind == echo.StepNode }
