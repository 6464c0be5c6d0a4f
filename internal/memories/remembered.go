package memories

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Remembered is a text that a bank has remembered by itself, as people see it.
type Remembered struct {
	Hash      echo.Hash `json:"hash"`
	At        time.Time `json:"at"`
	Session   string    `json:"session"`
	Phase     string    `json:"phase"`
	Key       echo.Key  `json:"key"` // of the turn, in the session
	Role      echo.Role `json:"role"`
	Kind      echo.Kind `json:"kind"`
	Tool      string    `json:"tool,omitempty"` // whose result it is
	Bytes     int       `json:"bytes"`
	Text      string    `json:"text"`
	Forgotten bool      `json:"forgotten,omitempty"`
	Withdrawn bool      `json:"withdrawn,omitempty"` // its message is out of the context of its session: no model finds it
	Imported  bool      `json:"imported,omitempty"`
	ReadBy    []string  `json:"read_by,omitempty"` // sessions, in the order in which they did last
	See       string    `json:"see,omitempty"`     // the command that shows the message, of a session on this machine
}

// Remembered returns the texts that a bank has remembered by itself, or the one whose hash begins so.
func (d *Desk) Remembered(name, hash string) ([]Remembered, error) {
	h, err := d.bank(name)
	if err != nil {
		return nil, err
	}
	here, err := d.here()
	if err != nil {
		return nil, err
	}
	out := []Remembered{}
	all := h.Recollections()
	for i := range all {
		r := &all[i]
		if !strings.HasPrefix(string(r.Hash), strings.ToLower(hash)) {
			continue
		}
		t := Remembered{
			Hash: r.Hash, At: r.At, Session: r.Session, Phase: r.Phase, Key: r.Key(), Role: r.Role, Kind: r.Kind, Tool: r.Tool,
			Bytes: len(r.Text.Text), Text: r.Text.Text, Forgotten: r.Forgotten, Withdrawn: r.Withdrawn, Imported: r.Imported, ReadBy: r.ReadBy,
		}
		if slices.Contains(here, t.Session) {
			t.See = seeing(t.Session, t.Key)
		}
		out = append(out, t)
	}
	if hash != "" {
		out = newest(out)
	}
	switch {
	case hash == "":
		return out, nil
	case len(out) == 0:
		err = fmt.Errorf("the bank %s has remembered no text %s", name, hash)
	case len(out) > 1:
		err = fmt.Errorf("%s of the bank %s have a hash that begins with %s", quantity.Of(len(out), "text"), name, hash)
	case out[0].Forgotten:
		err = fmt.Errorf("the text %s of the bank %s was forgotten", out[0].Hash, name)
	default:
		return out, nil
	}
	return nil, failure.New(failure.InvalidRequest, err, "windlass memory show "+name+" --remembered")
}

// newest returns the newest of texts with the same hash. There are several where one was withdrawn and somebody else said it later.
func newest(list []Remembered) (out []Remembered) {
	for i := range list {
		if at := slices.IndexFunc(out, func(o Remembered) bool { return o.Hash == list[i].Hash }); at >= 0 {
			out[at] = list[i]
		} else {
			out = append(out, list[i])
		}
	}
	return out
}

// TextsToForget returns what Forget would do with the remembered text whose hash begins so, or with those of a session.
func (d *Desk) TextsToForget(name, hash, session string) (*Forgotten, error) {
	h, err := d.bank(name)
	if err != nil {
		return nil, err
	}
	var hashes []echo.Hash
	what := "of the session " + session
	if hash != "" {
		list, err := d.Remembered(name, hash)
		if err != nil {
			return nil, err
		}
		hashes, what = []echo.Hash{list[0].Hash}, string(list[0].Hash)
	}
	for _, r := range h.Recollections() {
		if hash == "" && r.Session == session && !r.Forgotten {
			hashes = append(hashes, r.Hash)
		}
	}
	if len(hashes) == 0 {
		err := errors.New("the bank " + name + " has remembered no text " + what)
		return nil, failure.New(failure.InvalidRequest, err, "windlass memory show "+name+" --remembered")
	}
	return d.forgottenTexts(name, what, hashes, h.TextsToForget(hashes))
}

func (d *Desk) forgottenTexts(name, what string, hashes []echo.Hash, f *bank.Forgotten) (*Forgotten, error) {
	out, err := d.forgotten(name, "", f)
	if err != nil {
		return nil, err
	}
	out.Texts, out.What, out.hashes = f.Texts, what, hashes
	return out, nil
}
