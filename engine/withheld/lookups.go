package withheld

import (
	"regexp"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// Lookup is sent in place of the result of a lookup that shows a message which is out.
const Lookup = "[dropped: this answer showed a message that a person has taken out; ask again]"

// place is where a lookup says that a message is.
type place struct {
	phase string
	hash  echo.Hash
}

// The lines by which lookups present a message: the first of recall, and each that search_context lists.
var (
	recalledLine = regexp.MustCompile(`^\[([0-9a-f]{16}), .*? in phase ([^,:\n]+)[,:]`)
	foundLine    = regexp.MustCompile(`(?m)^([0-9a-f]{16}) \| [a-z]+ \| phase ([^,|\n]+?)(?:, turn \d+)? \|`)
)

// shows reports whether the result of a lookup presents a message that is out. One that another message has the hash of does not, nor
// one with a hash within a text.
func (v *Values) shows(m *echo.Message) bool {
	if !echo.LooksUp(m) {
		return false
	}
	lines := foundLine
	if m.Tool() == echo.ToolRecall {
		lines = recalledLine
	}
	for _, at := range lines.FindAllStringSubmatch(m.Text(), -1) {
		if v.isOut(place{phase: strings.TrimSpace(at[2]), hash: echo.Hash(at[1])}) {
			return true
		}
	}
	return false
}

// isOut reports whether no message at a place may be told any more as it is.
func (v *Values) isOut(at place) bool {
	if v.places == nil {
		v.findPlaces()
	}
	in, known := v.places[at]
	return known && !in || !known && v.session.Withdrawals.Says(at.hash)
}

// findPlaces finds the places of all messages, and whether one there may be told as it is. A lookup shows what was before it.
func (v *Values) findPlaces() {
	v.places = map[place]bool{}
	for _, visit := range v.session.Phases {
		for _, it := range v.session.Marked(visit) {
			at := place{phase: visit.Name, hash: it.Message.Hash()}
			v.places[at] = v.places[at] || it.Withdrawn == echo.InView && v.Quoted(it.Message) == nil
		}
	}
}
