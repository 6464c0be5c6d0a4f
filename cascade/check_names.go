package cascade

import (
	"cmp"
	"slices"

	"github.com/windlass-run/windlass/cascade/wording"
)

type phaseNames struct {
	targets []string        // the names that hand-offs can lead to
	first   map[string]int  // the index of the first phase of a name
	named   map[string]bool // by the name of a phase: whether it is a target; those written in place are not
}

func (n *phaseNames) index(phases []located) {
	n.named, n.first = make(map[string]bool, len(phases)), make(map[string]int, len(phases))
	for _, p := range phases {
		name := p.Name
		if n := p.at.Key("name").Node(); name == "" && n != nil {
			name = n.Text // The name is wrong and has been reported; that hand-offs lead to it is not a second mistake.
		}
		if name == "" {
			continue
		}
		if !p.inline && !n.named[name] {
			n.targets = append(n.targets, name)
		}
		if _, taken := n.named[name]; !taken {
			n.first[name] = p.index
		}
		n.named[name] = n.named[name] || !p.inline
	}
}

// hint says which phase was meant; words are what the place understands beside names.
func (n *phaseNames) hint(name string, words ...string) string {
	names := append(slices.Clone(n.targets), words...)
	return cmp.Or(wording.Meant(name, names), wording.KnownNames("the phases are ", names))
}
