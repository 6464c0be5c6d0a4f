package withheld

import (
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// The message by which a phase keeps what a person has answered.
const (
	personAsked  = "A person was asked: "
	personAnswer = "\nThe answer: "
)

// addPeople adds what people have answered where the message with the answer is out: the value of the state that has the newest
// answer to a phase, and the words of all.
func (v *Values) addPeople() {
	newest := map[string]bool{} // phases of which the newest answer was seen
	for _, visit := range slices.Backward(v.session.Phases) {
		for _, it := range slices.Backward(v.session.Marked(visit)) {
			if it.Order == 0 || it.Message.Kind() != echo.KindNotice || !strings.HasPrefix(it.Message.Text(), personAsked) {
				continue
			}
			name := cascade.StateHumanPrefix + visit.Name
			isNewest := !newest[name]
			newest[name] = true
			if it.Withdrawn == echo.InView {
				continue
			}
			if value, is := v.session.State[name]; is && isNewest {
				v.set[name] = append(v.set[name], value)
			}
			if _, answer, found := strings.Cut(it.Message.Text(), personAnswer); found {
				v.set[""] = append(v.set[""], answer) // no name of the state: it may be quoted
			}
		}
	}
}
