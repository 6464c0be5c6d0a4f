package simulate

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/failure"
)

// FolderError says that a folder was named where a file or a session is expected.
type FolderError struct{ Path string }

func (e *FolderError) Error() string { return e.Path + " is a folder" }

// UnknownSourceError says that a name is neither that of a file nor that of a session.
type UnknownSourceError struct{ Name string }

func (e *UnknownSourceError) Error() string {
	return fmt.Sprintf("there is no file %q, and no session of this machine with this name", e.Name)
}

// ReadSources reads files and sessions: a name is a file's if there is one, else the beginning of
// an id, for which find returns id and journal, "" for none. Errors without a kind are
// [failure.InvalidRequest] unless of the [journal]; no call at all is one.
func ReadSources(names []string, find func(begins string) (id, path string, err error)) ([]*Conversation, error) {
	var all []*Conversation
	for _, name := range names {
		found, err := readSource(name, find)
		if err != nil {
			return nil, invalid(err)
		}
		all = append(all, found...)
	}
	if !slices.ContainsFunc(all, func(c *Conversation) bool { return c.Calls() > 0 }) {
		return nil, invalid(errors.New("there is no call to replay: no conversation has an assistant message with one before it"))
	}
	return all, nil
}

func invalid(err error) error {
	var f *failure.Error
	if errors.As(err, &f) || journal.IsUnreadable(err) {
		return err
	}
	return failure.New(failure.InvalidRequest, err, "")
}

func readSource(name string, find func(string) (id, path string, err error)) ([]*Conversation, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, &FolderError{name}
	case err == nil:
		return ReadFile(name)
	case !errors.Is(err, os.ErrNotExist):
		return nil, err
	case name == "":
		return nil, &UnknownSourceError{name}
	}
	id, path, err := find(name)
	switch {
	case err != nil:
		return nil, err
	case id == "":
		return nil, &UnknownSourceError{name}
	}
	rec, err := journal.Read(path)
	if err != nil {
		return nil, err
	}
	return FromRecording(id, rec)
}
