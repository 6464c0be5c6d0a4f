package locomo

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/internal/source"
)

// Conversation is a conversation over many sessions, and questions about it. It is read only.
type Conversation struct {
	ID        string
	Turns     []Turn
	Questions []Question // those whose evidence is known

	// NoEvidence is how many questions name no turn of the conversation as evidence: they are left out. Unknown are the
	// ids of evidence, of any question, that no turn has.
	NoEvidence int
	Unknown    []string
}

// Turn is something that a speaker said.
type Turn struct {
	ID      string
	Session int    // from 1
	Text    string // "Speaker: text [image: caption]"
	Tokens  int64  // a quarter of its characters, rounded up
}

// Question is a question with the turns that hold the answer.
type Question struct {
	Number   int // in its conversation, from 1
	Text     string
	Category Category
	Evidence []int // indices of turns, rising
}

// Category is the kind of a question, by its number in the data.
type Category int

// String names a category as its authors do.
func (c Category) String() string {
	names := []string{1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
	if c < 1 || int(c) >= len(names) {
		return fmt.Sprintf("category %d", int(c))
	}
	return names[c]
}

// record is a conversation as it stands in a file.
type record struct {
	ID           string                     `json:"sample_id"`
	Conversation map[string]json.RawMessage `json:"conversation"`
	QA           []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
		Category Category `json:"category"`
	} `json:"qa"`
}

// recordedTurn is a turn as it stands in a file.
type recordedTurn struct {
	ID      string `json:"dia_id"`
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
	Caption string `json:"blip_caption"`
}

// ReadFile reads the conversations of a file, which the person names.
func ReadFile(path string) ([]*Conversation, error) {
	const hint = "give a file of conversations in the format of LoCoMo (docs/measured.md)"
	f, err := source.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, hint)
	}
	defer func() { _ = f.Close() }()
	all, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: %s", path, err, hint)
	}
	return all, nil
}

// Read reads a file: a JSON array of conversations. An error names the place.
func Read(r io.Reader) ([]*Conversation, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var records []record
	if err := json.Unmarshal(data, &records); err != nil {
		return nil, fmt.Errorf("expected a JSON array of conversations: %w", err)
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("there is no conversation in it")
	}
	out := make([]*Conversation, len(records))
	ids := map[string]bool{}
	for i := range records {
		if records[i].ID == "" {
			records[i].ID = fmt.Sprintf("conversation-%d", i+1)
		}
		if out[i], err = records[i].read(); err != nil {
			return nil, fmt.Errorf("conversation %d (%s): %w", i+1, records[i].ID, err)
		}
		if ids[out[i].ID] {
			return nil, fmt.Errorf("conversation %d: there is one with the sample_id %q before it", i+1, out[i].ID)
		}
		ids[out[i].ID] = true
	}
	return out, nil
}

// read puts a conversation together.
func (r *record) read() (*Conversation, error) {
	c := &Conversation{ID: r.ID}
	places := map[string]int{}
	for session := 1; ; session++ {
		raw, there := r.Conversation[fmt.Sprintf("session_%d", session)]
		if !there {
			break
		}
		var turns []recordedTurn
		if err := json.Unmarshal(raw, &turns); err != nil {
			return nil, fmt.Errorf("session_%d: %w", session, err)
		}
		for i, t := range turns {
			if _, twice := places[t.ID]; twice || t.ID == "" {
				return nil, fmt.Errorf("session_%d: turn %d: its dia_id %q is empty or taken", session, i+1, t.ID)
			}
			places[t.ID] = len(c.Turns)
			c.Turns = append(c.Turns, t.turn(session))
		}
	}
	if len(c.Turns) == 0 {
		return nil, fmt.Errorf("it has no turns: expected conversation.session_1, session_2, ..., each an array of turns")
	}
	for i, q := range r.QA {
		if strings.TrimSpace(q.Question) == "" {
			return nil, fmt.Errorf("qa %d: there is no question", i+1)
		}
		evidence, unknown := findEvidence(q.Evidence, places)
		c.Unknown = append(c.Unknown, unknown...)
		if len(evidence) == 0 {
			c.NoEvidence++
			continue
		}
		c.Questions = append(c.Questions, Question{Number: i + 1, Text: q.Question, Category: q.Category, Evidence: evidence})
	}
	return c, nil
}

func (t recordedTurn) turn(session int) Turn {
	text := t.Speaker + ": " + t.Text
	if t.Caption != "" {
		text += " [image: " + t.Caption + "]"
	}
	return Turn{ID: t.ID, Session: session, Text: text, Tokens: (int64(utf8.RuneCountInString(text)) + 3) / 4}
}

// turnID finds ids in evidence: some entries of the data hold several, with one separator or another.
var turnID = regexp.MustCompile(`[^\s;,]+`)

// findEvidence returns the turns that evidence names, each once, and the ids that no turn has.
func findEvidence(entries []string, places map[string]int) (turns []int, unknown []string) {
	for _, entry := range entries {
		for _, id := range turnID.FindAllString(entry, -1) {
			if at, known := places[id]; known {
				turns = append(turns, at)
			} else {
				unknown = append(unknown, id)
			}
		}
	}
	slices.Sort(turns)
	return slices.Compact(turns), unknown
}
