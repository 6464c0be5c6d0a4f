package authoring

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/page"
)

// sent is what a form has sent for a file. Whatever is refused of it, the answer has its text.
type sent struct {
	name    string
	file    *grants.File // nil: there is none that the text can be for
	why     error        // why there is none, or why the text cannot be looked at in its place
	status  int          // of HTTP, with why
	text    string       // with the ends of lines that the file has
	version string       // of the file when it was opened; "": there was none
	do      string       // the button: check, save or run
	typed   bool         // the form has a text: those of files that are changed elsewhere have none
}

// sentOf reads the form that was sent for a file. The error is of a name that no cascade file can have.
func (a *author) sentOf(v *page.Visit, name string) (*sent, error) {
	form := v.Form()
	s := &sent{name: name, text: asSent(form.Get("text")), version: form.Get("version"), do: form.Get("do"), typed: form.Has("text")}
	if !grants.IsCascadeName(name) {
		return nil, refusal(&grants.NoFileError{Name: name})
	}
	if s.file, s.why = a.Grants.File(name); errors.As(s.why, new(*grants.NoFileError)) {
		s.status = http.StatusNotFound
		if s.file, s.why = a.Grants.New(name); errors.As(s.why, new(*grants.ExistsError)) {
			s.why = server.NewProblem(server.NotGranted, "look at what it is now, on the machine of the server", "%s is there, but it is not a cascade file any more", name)
		}
	}
	switch {
	case s.file == nil:
	case !s.typed:
		s.text = string(s.file.Text)
	case strings.Contains(string(s.file.Text), "\r\n"):
		s.text = strings.ReplaceAll(s.text, "\n", "\r\n")
	}
	return s, nil
}

// since says what has happened to the file since it was opened; "" when nothing has.
func (s *sent) since() string {
	switch {
	case s.file == nil || s.version == s.file.Version:
		return ""
	case s.file.Version == "":
		return "The file is not there any more: it was removed or renamed since it was opened here."
	case s.version == "":
		return "There is a file with this name by now."
	}
	return "The file has changed since it was opened here."
}

// draft is the page of a file with the text that was sent. What is wrong with the characters is found first.
func (a *author) draft(v *page.Visit, s *sent) *fileView {
	view := a.blank(v, s.name)
	view.Version, view.Text, view.HasChange = s.version, strings.ToValidUTF8(asSent(s.text), "\uFFFD"), true
	view.State, view.Bad = notChecked, true
	if s.file == nil {
		return view
	}
	view.New, view.HasChange = s.file.Version == "", s.text != string(s.file.Text)
	var hidden []finding
	switch {
	case !s.typed:
		view.Closed = closed(s.text)
	case unsendable(s.text) != "":
		return view
	default:
		hidden = hiddenIn(s.text, languageOf(s.name))
	}
	if err := a.diagnose(v, s.file, s.text, view, hidden); err != nil {
		s.why = err
	}
	return view
}

const notChecked = "not checked"

// refuse shows the text that was sent, and why nothing is done with it, which the audit keeps.
func (a *author) refuse(v *page.Visit, s *sent, view *fileView, status int, why error) error {
	v.Audit(s.audited(), "", s.name, why)
	view.Problem = reason(why)
	return a.page(v, status, view)
}

// words are the error of what a person is told in sentences.
type words string

func (w words) Error() string { return string(w) }

// reason is why something is refused, for a person.
func reason(why error) string {
	if p := server.ProblemOf(why); p.Kind != server.Internal {
		return worded(p)
	}
	return why.Error()
}

// audited is what the audit calls what was asked for.
func (s *sent) audited() string {
	switch s.do {
	case "save":
		return audit.CascadeSave
	case "run":
		return audit.Run
	}
	return audit.Request
}

// unsendable says why a text is not taken at all; "" when it is.
func unsendable(text string) string {
	asked := asSent(text)
	switch {
	case len(text) > mostText:
		return tooLong(text)
	case !utf8.ValidString(text):
		return "The text is not UTF-8."
	case strings.Contains(asked, "\r"):
		return differentEnds
	}
	return ""
}

// The most hidden characters that are listed one by one.
const mostHidden = 50

// hiddenIn finds the characters of a text that are not seen, as errors at their places.
func hiddenIn(text, language string) (out []finding) {
	if _, is := excerpt.FirstHidden(text); !is {
		return nil
	}
	line, col, left := 1, 1, 0
	for _, r := range text {
		switch {
		case !excerpt.Hidden(r):
		case len(out) == mostHidden:
			left++
		default:
			out = append(out, finding{
				Severity: "error", Code: "hidden_character", Line: line, Col: col, EndCol: col + 1,
				Message: called(r) + " is a character that is not seen", Hint: "remove it, or write it as " + escaped(r, language) + " in double quotes",
			})
		}
		if col++; r == '\n' {
			line, col = line+1, 1
		}
	}
	if left > 0 {
		out[mostHidden-1].Hint += fmt.Sprintf("; %d more of them follow", left)
	}
	return out
}

// escaped is a character as the strings of a language have it; those of YAML in double quotes.
func escaped(r rune, language string) string {
	switch high, low := utf16.EncodeRune(r); {
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	case language == "json":
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// called is a character that is not seen with its name, if it is one that texts are often copied with.
func called(r rune) string {
	name := map[rune]string{
		0: "null", 0x1b: "escape", 0xad: "soft hyphen", 0x61c: "Arabic letter mark", 0x180e: "Mongolian vowel separator", 0x200b: "zero width space",
		0x200e: "left-to-right mark", 0x200f: "right-to-left mark", 0x2028: "line separator", 0x2029: "paragraph separator",
		0x202a: "left-to-right embedding", 0x202b: "right-to-left embedding", 0x202c: "end of a direction", 0x202d: "left-to-right override",
		0x202e: "right-to-left override", 0x2060: "word joiner", 0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate",
		0x2068: "first strong isolate", 0x2069: "end of an isolate", 0xfeff: "byte order mark",
	}[r]
	switch {
	case name != "":
	case r < 0xa0:
		name = "control character"
	default:
		return fmt.Sprintf("%U", r)
	}
	return fmt.Sprintf("%U (%s)", r, name)
}

// hiddenNote says where characters are that are not seen, in one sentence.
func hiddenNote(text string) string {
	first := hiddenIn(text, "")
	if len(first) == 0 {
		return ""
	}
	const most = 3
	var places []string
	for _, f := range first[:min(len(first), most)] {
		what, _, _ := strings.Cut(f.Message, " is ")
		places = append(places, what+" at "+f.Place())
	}
	note := "The text has characters that are not seen: " + strings.Join(places, ", ")
	if len(first) > most {
		note += " and others"
	}
	return note + "."
}
