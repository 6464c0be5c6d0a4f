package echo

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Redacted says of a message that what stands in it is not what was recorded: texts were taken out
// of it afterwards, and a mark is in the place of each. The message keeps its content hash, so that
// what refers to it still does; what is sent of it, and digested, is what stands now.
type Redacted struct {
	Hash   Hash   `json:"hash"`             // of the message as it was
	Of     []Hash `json:"of"`               // of the redacted messages whose texts were taken out
	Tokens int64  `json:"tokens,omitempty"` // of the message as it was; 0: as it stands now
	Bytes  int    `json:"bytes,omitempty"`  // of its encoding as it was; 0: not known
}

// covered reports whether every redaction that took something out is among those given.
func (r *Redacted) covered(by []Hash) bool {
	return IsHash(r.Hash) && len(r.Of) > 0 && !slices.ContainsFunc(r.Of, func(h Hash) bool { return !slices.Contains(by, h) })
}

// Redacted returns what is known of a message that texts were taken out of; nil: none were. It must
// not be written to.
func (m *Message) Redacted() *Redacted { return m.draft.Redacted }

// Derived returns the draft of a message that is made of this one: it has other tokens.
func (m *Message) Derived() Draft {
	d := m.draft
	if r := d.Redacted; r != nil {
		d.Redacted = &Redacted{Hash: r.Hash, Of: r.Of}
	}
	return d
}

// HashOfOutput returns the content hash of the answer that an output is as a text: outputs with the same are the same.
func HashOfOutput(value any) Hash { return NewText(RoleAssistant, KindAnswer, AsText(value)).Hash() }

// OutputHash returns the hash that is noted with the output of the end of a phase or of a child; "" for none.
func OutputHash(e *Entry) Hash {
	if d, err := Read[PhaseEnd](e); err == nil {
		return d.Hash
	}
	d, _ := Read[ChildEnd](e) // another entry has none
	return d.Hash
}

// RedactionMark is what stands in place of a text that was taken out with a message.
func RedactionMark(of Hash, text string) string {
	return RedactionMarkOf(of, utf8.RuneCountInString(text))
}

// RedactionMarkOf is [RedactionMark] for a text of so many characters.
func RedactionMarkOf(of Hash, characters int) string {
	return fmt.Sprintf("%s%d characters]", redactionHead(of), characters)
}

// IsHash reports whether a text has the form of a content hash.
func IsHash(h Hash) bool {
	return len(h) == 16 && strings.Trim(string(h), hexDigits) == ""
}

func redactionHead(of Hash) string { return "[redacted " + string(of) + ": " }

// RedactionMarks finds the marks of redactions in what is recorded.
type RedactionMarks struct{ heads [][]byte }

// MarksOf returns what finds the marks of some redacted messages.
func MarksOf(of []Hash) RedactionMarks {
	var m RedactionMarks
	for _, h := range of {
		m.heads = append(m.heads, []byte(redactionHead(h)))
	}
	return m
}

// In reports whether one of some texts, such as the JSON of what entries say, has a mark.
func (m RedactionMarks) In(texts ...[]byte) bool {
	return slices.ContainsFunc(texts, func(t []byte) bool {
		return slices.ContainsFunc(m.heads, func(head []byte) bool { return bytes.Contains(t, head) })
	})
}

// CheckRedacted returns an error when a message of the entry says that texts were taken out of it by
// a redaction that is not among those given.
func (e *Entry) CheckRedacted(by []Hash) error {
	var err error
	e.eachMessage(func(m *Message) {
		if r := m.Redacted(); r != nil && !r.covered(by) {
			err = fmt.Errorf("entry %d: the message %.40s says that it is redacted, and the header of the journal does not", e.Seq, strconv.Quote(string(r.Hash)))
		}
	})
	return err
}

// eachMessage calls see with the message of the entry, and with those that were sent in place of
// others.
func (e *Entry) eachMessage(see func(*Message)) {
	if e.Message != nil {
		see(e.Message)
	}
	if e.Selection == nil {
		return
	}
	for _, s := range e.Selection.Spans {
		for _, sent := range s.Sent {
			for _, m := range sent {
				if m != nil {
					see(m)
				}
			}
		}
	}
}
