// Package answerflags makes answers to what runs wait for of the flags that give them.
package answerflags

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os/user"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/waits"
)

// Given is what the flags of windlass answer say.
type Given struct {
	Reason, Arguments, Grant string
	JSON                     string   // of --value
	Fields                   []string // of --field: NAME=VALUE
	Images                   string   // of --save-images: a folder
}

// SaveImages writes the images of a question, where nothing else is said of it.
func (o *Given) SaveImages(desk waits.Desk, w *waits.Wait, more bool) ([]waits.Saved, error) {
	if more {
		return nil, exit.UsageError(errors.New("--save-images writes what is shown, and takes no answer"), "windlass answer "+w.ID+" --save-images FOLDER")
	}
	return desk.SaveImages(w, o.Images)
}

// Value returns the value that the command line says; given is false where it says none.
func (o *Given) Value(w *waits.Wait, args []string) (value any, given bool, err error) {
	ways := 0
	for _, is := range []bool{len(args) > 0, o.JSON != "", len(o.Fields) > 0} {
		if is {
			ways++
		}
	}
	switch {
	case ways > 1:
		return nil, false, exit.UsageError(errors.New("ANSWER, --value and --field exclude each other"), "one of them")
	case ways == 0 && o.Grant != "":
		return nil, false, exit.UsageError(errors.New("--grant goes with allow"), "windlass answer "+w.ID+" allow --grant "+o.Grant)
	case ways == 0 && (o.Reason != "" || o.Arguments != ""):
		return nil, false, exit.UsageError(errors.New("--reason and --arguments go with ANSWER"), "windlass answer "+w.ID+" deny --reason ...")
	case o.JSON != "":
		value, err = Decoded("--value", o.JSON)
	case len(o.Fields) > 0:
		value, err = fieldsOf(o.Fields)
	case len(args) > 0:
		value, err = o.said(w, args[0])
	}
	return value, ways > 0, err
}

// said makes a value of a word and the flags that go with it.
func (o *Given) said(w *waits.Wait, word string) (any, error) {
	if w.Kind == echo.WaitApproval {
		d := map[string]any{"decision": word}
		if o.Reason != "" {
			d["reason"] = o.Reason
		}
		if o.Arguments != "" {
			args, err := Decoded("--arguments", o.Arguments)
			if err != nil {
				return nil, err
			}
			d["arguments"] = args
		}
		return d, nil
	}
	if o.Arguments != "" {
		return nil, exit.UsageError(errors.New("--arguments goes with the approval of a call"), "windlass answer "+w.ID)
	}
	if w.Form != nil && w.Form.Kind == echo.FormReview && o.Reason != "" {
		yes := map[string]bool{"yes": true, "y": true, "true": true, "no": false, "n": false, "false": false}
		approved, ok := yes[strings.ToLower(word)]
		if !ok {
			return nil, exit.UsageError(fmt.Errorf("a review is answered by yes or no, not %q", word), "windlass answer "+w.ID+" no --reason ...")
		}
		return map[string]any{"approved": approved, "feedback": o.Reason}, nil
	}
	if w.Form != nil && w.Form.Feedback && o.Reason != "" {
		return map[string]any{"choice": word, "feedback": o.Reason}, nil
	}
	if w.Form != nil && w.Form.Choose != nil && o.Reason != "" {
		return waiting.Because(w.Form.Choose, word, o.Reason), nil
	}
	if o.Reason != "" {
		return nil, exit.UsageError(errors.New("--reason goes with the denial of a call, with reviews, decisions and choices among candidates"), "windlass answer "+w.ID)
	}
	return word, nil
}

// Decoded reads one JSON value. Numbers keep their digits.
func Decoded(flag, text string) (any, error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil || dec.More() {
		return nil, exit.UsageError(fmt.Errorf("%s is not one JSON value: %q", flag, text), flag+` '{"name": "value"}'`)
	}
	for _, p := range source.Parse(flag+".json", []byte(text)).Problems { // as over HTTP: which of two values counts depends on who reads it
		if p.Code == source.ProblemDuplicateKey {
			return nil, exit.UsageError(fmt.Errorf("%s: %s", flag, p.Message), "each name once")
		}
	}
	return value, nil
}

func fieldsOf(fields []string) (any, error) {
	out := map[string]any{}
	for _, f := range fields {
		name, value, ok := strings.Cut(f, "=")
		if !ok || name == "" {
			return nil, exit.UsageError(fmt.Errorf("--field %q has no name before an equals sign", f), "--field NAME=VALUE")
		}
		if _, twice := out[name]; twice {
			return nil, exit.UsageError(fmt.Errorf("--field %s is given twice", name), "each field once")
		}
		out[name] = value
	}
	return out, nil
}

// UserName is who answers: the user of the system.
func UserName() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return cmp.Or(u.Username, u.Uid)
}
