package redaction

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// thoughtsOf returns the texts of what models thought with the messages that have a content hash.
func thoughtsOf(entries []*echo.Entry, of echo.Hash) []string {
	var all []string
	for _, e := range entries {
		if e.NodeType != echo.NodeModelCall || e.Message == nil || e.Message.Hash() != of {
			continue
		}
		if d, err := echo.Read[echo.ModelCall](e); err == nil {
			all = append(all, wordsIn(d.Thought)...)
		}
	}
	return distinct(all, minWord)
}

// wordsIn returns the texts in JSON that are long enough to be none of its form, such as types.
func wordsIn(thought json.RawMessage) []string {
	return slices.DeleteFunc(leavesOf(string(thought)), func(t string) bool { return len(t) < minWord })
}

// thought takes what a model thought out of an entry: of the message all, of others what has its texts.
// A text alone becomes marks. What has parts, which a provider may have signed, goes as a whole: it
// refuses parts with other texts, and takes a message without them.
func (r *redactor) thought(e *echo.Entry) {
	d, err := echo.Read[echo.ModelCall](e)
	if err != nil || len(d.Thought) == 0 || e.Message == nil {
		return // whatever else it says is changed by its place
	}
	texts, plain := onlyTexts(d.Thought)
	switch changed, err := r.json(d.Thought, someData, r.data, nil); {
	case e.Message.Hash() == r.of && plain:
		d.Thought = r.markedTexts(texts)
	case e.Message.Hash() == r.of, err == nil && !plain && !bytes.Equal(changed, d.Thought):
		d.Thought = nil
	default:
		return // likewise
	}
	e.Set(d)
}

// onlyTexts returns the members of what a model thought if each of them is a text.
func onlyTexts(thought json.RawMessage) (members map[string]string, ok bool) {
	return members, json.Unmarshal(thought, &members) == nil
}

func (r *redactor) markedTexts(members map[string]string) json.RawMessage {
	for name, text := range members {
		members[name] = markOf(r.of, text)
	}
	b, _ := json.Marshal(members) // texts can always be encoded
	return b
}
