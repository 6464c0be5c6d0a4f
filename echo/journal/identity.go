package journal

import (
	"fmt"
	"path/filepath"

	"github.com/windlass-run/windlass/echo"
)

const maxSessionID = 64

// IsSessionID reports whether a text can be the id of a session: up to 64 letters, digits, dots,
// dashes and underscores, the first one a letter or digit. Ids are also names of folders, so they
// are kept plain.
func IsSessionID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && (c == '.' || c == '-' || c == '_'):
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxSessionID
}

// FolderError says that a session's folder has the journal of another session.
type FolderError struct {
	Folder    string // the name of the folder
	SessionID string // that the header says
}

// Error says what each of them says, and what can be done.
func (e *FolderError) Error() string {
	return fmt.Sprintf("its folder is named %q, and its header says session %q: a session cannot be copied or renamed by its folder; "+
		"rename the folder to %q, or remove it and fork that session", e.Folder, e.SessionID, e.SessionID)
}

// folderOf returns the name that the folder of the journal at path must have the session's id for;
// "" when the file is not named as a session's journal, and so may be anywhere.
func folderOf(path string) string {
	if filepath.Base(path) != File {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Base(filepath.Dir(path))
}

// checkFolder demands that the folder of a journal has the name of the session. An empty folder is
// any.
func checkFolder(folder string, h *Header) error {
	if folder != "" && folder != h.SessionID {
		return &FolderError{Folder: folder, SessionID: h.SessionID}
	}
	return nil
}

// checkSession demands that an entry is of the journal's session.
func checkSession(e *echo.Entry, session string) error {
	if e.SessionID != session {
		return fmt.Errorf("entry %d is of session %.80q, and the header says %q", e.Seq, e.SessionID, session)
	}
	return nil
}
