package lookup

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/withheld"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

// ToolRecall is the name of the tool that returns what a view does not hold.
const ToolRecall = echo.ToolRecall

// How much one recall returns, in characters: at most about 5,000 tokens of English.
const (
	recallDefault = 4000
	recallMost    = 20_000
	recallShown   = 5 // hashes named in an error
)

// RecallSpec describes the tool, shortly, as it is a part of every request.
func RecallSpec() effect.ToolSpec {
	return effect.ToolSpec{
		Name: ToolRecall, Idempotent: true,
		Description: fmt.Sprintf("Read the original of a message that is masked or cut here, by its hash: limit characters (default %d) from offset on.", recallDefault),
		Parameters: json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["hash"],"properties":{`+
			`"hash":{"type":"string"},"offset":{"type":"integer","minimum":0},"limit":{"type":"integer","minimum":1,"maximum":%d}}}`, recallMost)),
	}
}

// Recall returns a stretch of a message of the session, and its hash; "" when no message was found.
func (m *Messages) Recall(args json.RawMessage) (text string, failed bool, of echo.Hash, err error) {
	in := struct {
		Hash          string
		Offset, Limit float64 // whole numbers, as the schema says; 3 may be written as 3.0
	}{Limit: recallDefault}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", false, "", fmt.Errorf("read arguments of %s: %w", ToolRecall, err)
	}
	found, problem := find(m.Session, in.Hash)
	if problem != "" {
		return problem, true, "", nil
	}
	text, failed = found.page(int(min(in.Offset, math.MaxInt32)), int(in.Limit))
	return text, failed, found.message.Hash(), nil
}

// original is a message of the session with the place where it entered.
type original struct {
	message *echo.Message
	told    *echo.Message // the message without what it quotes of what a person has taken out
	phase   *echo.PhaseRecord
	turn    int
}

var hashPrefix = regexp.MustCompile(`^[0-9a-f]{6,16}$`)

// find finds a message by the beginning of its hash. The problem is for the model.
func find(session *echo.Session, given string) (o original, problem string) {
	h := strings.ToLower(strings.TrimSpace(given))
	if !hashPrefix.MatchString(h) {
		return o, fmt.Sprintf("%q is no hash: give the 16 digits that stand in the placeholder, or the first 6 or more of them.", excerpt.Clip(given, 40))
	}
	var hashes []string
	dropped, values := false, withheld.Of(session)
	for _, p := range slices.Backward(session.Phases) {
		marked := session.Marked(p)
		dropped = dropped || slices.ContainsFunc(marked, func(it echo.Item) bool {
			return it.Withdrawn != echo.InView && strings.HasPrefix(string(it.Message.Hash()), h)
		})
		for _, it := range echo.Present(marked) {
			hash := string(it.Message.Hash())
			told := values.Told(it.Message)
			if !strings.HasPrefix(hash, h) && strings.HasPrefix(string(told.Hash()), h) {
				hash = string(told.Hash()) // that of what is sent in its place, as a placeholder has it
			}
			if strings.HasPrefix(hash, h) && !it.Message.Kind().Stands() && !slices.Contains(hashes, hash) {
				hashes = append(hashes, hash)
				o = original{message: it.Message, told: told, phase: p, turn: it.Turn}
			}
		}
	}
	switch {
	case len(hashes) == 0 && dropped:
		return o, "The message that you ask for was dropped by a person: it cannot be read any more. Do without it."
	case len(hashes) == 0:
		return o, fmt.Sprintf("No message of this session has the hash %s. Copy the hash from the placeholder, or call the tool again.", h)
	case len(hashes) > 1:
		return o, fmt.Sprintf("%d messages have a hash that begins with %s: %s. Give more digits.",
			len(hashes), h, strings.Join(hashes[:min(len(hashes), recallShown)], ", "))
	}
	return o, ""
}

// page returns the characters from offset on, at most limit, under a line that says what they are.
func (o original) page(offset, limit int) (text string, failed bool) {
	whole := plainText(o.told)
	total := utf8.RuneCountInString(whole)
	if offset >= total && offset > 0 {
		return fmt.Sprintf("Offset %d is behind the end: the message %s has %s.", offset, o.message.Hash(), quantity.Of(total, "character")), true
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

func byteOf(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// plainText writes a whole message as text: its words, calls, and the names of its images.
func plainText(m *echo.Message) string {
	var lines []string
	for _, p := range m.Parts() {
		switch p.Type {
		case echo.PartImage:
			lines = append(lines, imageName(p.URL))
		case echo.PartFile:
			lines = append(lines, fmt.Sprintf("[file %s: %s]", p.Name, echo.AttachmentName(&p)))
		default:
			lines = append(lines, p.Text)
		}
	}
	for _, c := range m.ToolCalls() {
		lines = append(lines, fmt.Sprintf("calls %s with %s", c.Name, c.Arguments))
	}
	return strings.Join(lines, "\n")
}

// imageName says which image a message holds, without its data.
func imageName(url string) string {
	data, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "[image " + url + "]"
	}
	kind, _, _ := strings.Cut(data, ";")
	return fmt.Sprintf("[image of type %s, %d bytes as sent]", kind, len(url))
}
