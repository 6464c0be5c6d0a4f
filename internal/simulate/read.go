package simulate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/source"
)

// LineError says which line of a file is no conversation, and why.
type LineError struct {
	File string
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *LineError) Unwrap() error { return e.Err }

// ErrNoConversations says that a file has nothing to replay.
var ErrNoConversations = errors.New("there is no conversation in it")

// ReadFile reads a session's journal, or a file with a conversation per line, of any length: an
// array of chat messages as OpenAI-compatible endpoints take them, or an object with it as
// "messages". The first line that is neither empty nor a conversation is a [*LineError].
func ReadFile(path string) ([]*Conversation, error) {
	f, err := source.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read conversations: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	if journal.Recognize(f) {
		rec, err := journal.ReadCopy(path)
		if err != nil {
			return nil, err
		}
		return FromRecording(path, rec)
	}
	return Read(path, f)
}

// Read reads what [ReadFile] does from r; name stands for the file in errors and results.
func Read(name string, r io.Reader) ([]*Conversation, error) {
	var all []*Conversation
	br := bufio.NewReaderSize(r, 1<<16)
	for number := 1; ; number++ {
		line, err := br.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read conversations: %w", err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			items, bad := parseConversation(text)
			if bad != nil {
				return nil, &LineError{File: name, Line: number, Err: bad}
			}
			all = append(all, &Conversation{File: name, Number: number, Items: items})
		}
		if err != nil {
			break
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read %s: %w", name, ErrNoConversations)
	}
	return all, nil
}

// recorded is a chat message. Other members, such as reasoning, are not sent again by any client.
type recorded struct {
	Role         string          `json:"role"`
	Content      json.RawMessage `json:"content"`
	Name         string          `json:"name"`
	ToolCalls    []recordedCall  `json:"tool_calls"`
	ToolCallID   string          `json:"tool_call_id"`
	FunctionCall json.RawMessage `json:"function_call"`
}

type recordedCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

func parseConversation(text []byte) ([]echo.Item, error) {
	list, err := messageList(text)
	if err != nil {
		return nil, err
	}
	h := historian{taken: map[string]bool{}}
	for i, raw := range list {
		var m recorded
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, plainJSONError(err))
		}
		if err := h.add(m); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	if len(h.items) == 0 {
		return nil, errors.New("the conversation has no messages")
	}
	return h.items, nil
}

func messageList(text []byte) ([]json.RawMessage, error) {
	var wrapped struct {
		Messages []json.RawMessage `json:"messages"`
	}
	var err error
	if text[0] != '{' {
		err = json.Unmarshal(text, &wrapped.Messages)
	} else if err = json.Unmarshal(text, &wrapped); err == nil && wrapped.Messages == nil {
		err = errors.New(`the object has no "messages"`)
	}
	if err != nil {
		return nil, fmt.Errorf("this is not a conversation, a JSON array of chat messages: %w", plainJSONError(err))
	}
	return wrapped.Messages, nil
}

// plainJSONError says in terms of JSON what does not fit, without the names of Go types.
func plainJSONError(err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("%q is %s %s", wrong.Field, article(wrong.Value), wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("found %s %s", article(wrong.Value), wrong.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("%w at byte %d", err, syntax.Offset)
	}
	return err
}

func article(noun string) string {
	if noun != "" && bytes.ContainsRune([]byte("aeiou"), rune(noun[0])) {
		return "an"
	}
	return "a"
}
