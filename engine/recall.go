package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// toolRecall returns what a view does not hold.
const toolRecall = "recall"

// How much one recall returns, in characters. The most is about 5,000 tokens of English: more is read in pages.
const (
	recallDefault = 4000
	recallMost    = 20_000
	recallShown   = 5 // hashes named in an error
)

// recallSpec is short, because it is a part of every request.
func recallSpec() effect.ToolSpec {
	return effect.ToolSpec{
		Name: toolRecall, Idempotent: true,
		Description: fmt.Sprintf("Read the original of a message that is masked or cut here, by its hash: limit characters (default %d) from offset on.", recallDefault),
		Parameters: json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["hash"],"properties":{`+
			`"hash":{"type":"string"},"offset":{"type":"integer","minimum":0},"limit":{"type":"integer","minimum":1,"maximum":%d}}}`, recallMost)),
	}
}

// offerRecall adds recall to the phase's tools, once it is of use.
func (v *visit) offerRecall(useful bool) {
	if _, has := v.tools.byName[toolRecall]; !useful || has {
		return
	}
	v.tools = newToolset(append(v.tools.specs[:len(v.tools.specs):len(v.tools.specs)], recallSpec()))
}

// recallIsOfUse reports whether recall is to be offered when a view leaves so many messages out in part or whole. Under a
// policy that is only a matter of time in a phase that calls tools or has attempts, so it is offered from the start: a
// list of tools that never changes keeps the cached prefix. Without one it is offered once the guard has made room.
func (v *visit) recallIsOfUse(masked int) bool {
	if !v.builder.MayMask(v.carry) {
		return false
	}
	return !v.settings.Policy.Enabled || len(v.tools.specs) > 0 || v.phase.MaxAttempts() > 1 || masked > 0
}

// recall returns a stretch of a message of this session.
func (v *visit) recall(args json.RawMessage) (text string, failed bool, err error) {
	in := struct {
		Hash          string
		Offset, Limit float64 // whole numbers, as the schema says; 3 may be written as 3.0
	}{Limit: recallDefault}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", false, fmt.Errorf("read arguments of %s: %w", toolRecall, err)
	}
	found, problem := v.find(in.Hash)
	if problem != "" {
		return problem, true, nil
	}
	v.reads.recalled(found.message.Hash(), v.builder.Masked)
	text, failed = found.page(int(min(in.Offset, math.MaxInt32)), int(in.Limit))
	return text, failed, nil
}

// original is a message of the session with the place where it entered.
type original struct {
	message *echo.Message
	phase   *echo.PhaseRecord
	turn    int
}

var hashPrefix = regexp.MustCompile(`^[0-9a-f]{6,16}$`)

// find looks a message up by its hash or the beginning of it, in the current phase first. The problem is written for the
// model.
func (v *visit) find(given string) (o original, problem string) {
	h := strings.ToLower(strings.TrimSpace(given))
	if !hashPrefix.MatchString(h) {
		return o, fmt.Sprintf("%q is no hash: give the 16 digits that stand in the placeholder, or the first 6 or more of them.", clip(given, 40))
	}
	found := map[echo.Hash]original{}
	var order []string
	for i := len(v.session.Phases) - 1; i >= 0; i-- {
		p := v.session.Phases[i]
		for _, it := range p.History {
			hash := it.Message.Hash()
			if _, seen := found[hash]; !seen && strings.HasPrefix(string(hash), h) {
				found[hash] = original{message: it.Message, phase: p, turn: it.Turn}
				order = append(order, string(hash))
				o = found[hash]
			}
		}
	}
	switch {
	case len(order) == 0:
		return o, fmt.Sprintf("No message of this session has the hash %s. Copy the hash from the placeholder, or call the tool again.", h)
	case len(order) > 1:
		return o, fmt.Sprintf("%d messages have a hash that begins with %s: %s. Give more digits.",
			len(order), h, strings.Join(order[:min(len(order), recallShown)], ", "))
	}
	return o, ""
}

// page returns the characters from offset on, at most limit, under a line that says what they are.
func (o original) page(offset, limit int) (text string, failed bool) {
	whole := plainText(o.message)
	total := utf8.RuneCountInString(whole)
	if offset >= total && offset > 0 {
		return fmt.Sprintf("Offset %d is behind the end: the message %s has %s.", offset, o.message.Hash(), plural(total, "character")), true
	}
	rest := whole[byteOf(whole, offset):]
	part := rest[:byteOf(rest, limit)]
	end := offset + utf8.RuneCountInString(part)
	head := fmt.Sprintf("[%s, %s: characters %d to %d of %d", o.message.Hash(), o.what(), min(offset+1, total), end, total)
	if end < total {
		head += fmt.Sprintf("; read on with offset %d", end)
	}
	return head + "]\n" + part, false
}

// what names a message: whose it is, and where it entered.
func (o original) what() string {
	m := o.message
	s := string(m.Role()) + " message"
	if m.Role() == echo.RoleTool {
		s = "result of " + m.Tool()
		if m.Failed() {
			s = "failed " + s
		}
	}
	s += " in phase " + o.phase.Name
	if o.turn > 0 {
		s += fmt.Sprintf(", turn %d", o.turn)
	}
	return s
}

// byteOf returns the index of the byte at which character n begins, or the length of a shorter text.
func byteOf(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// plainText writes a whole message as text: its words, the calls it makes, and the names of its images.
func plainText(m *echo.Message) string {
	var lines []string
	for _, p := range m.Parts() {
		if p.Type == echo.PartImage {
			lines = append(lines, imageName(p.URL))
		} else {
			lines = append(lines, p.Text)
		}
	}
	for _, c := range m.ToolCalls() {
		lines = append(lines, fmt.Sprintf("calls %s with %s", c.Name, c.Arguments))
	}
	return strings.Join(lines, "\n")
}

// imageName says which image a message holds. Data is not repeated: only a user message could carry it.
func imageName(url string) string {
	data, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "[image " + url + "]"
	}
	kind, _, _ := strings.Cut(data, ";")
	return fmt.Sprintf("[image of type %s, %d bytes as sent]", kind, len(url))
}
