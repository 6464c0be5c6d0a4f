// Package config says where windlass keeps its files and reads windlass.json.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Home returns the folder of sessions and the embedded database: $WINDLASS_HOME or ~/.windlass.
func Home() (string, error) {
	if h, err := folderFrom("WINDLASS_HOME"); h != "" || err != nil {
		return h, err
	}
	h, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("no home folder for windlass: neither WINDLASS_HOME nor HOME is set")
	}
	return filepath.Join(h, ".windlass"), nil
}

// folderFrom returns the absolute path of the folder that a variable names, "" when it is not set.
func folderFrom(env string) (string, error) {
	dir := os.Getenv(env)
	if dir == "" {
		return "", nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolve %s %q: %w", env, dir, err)
	}
	return abs, nil
}

// CacheDir returns the folder of what can be fetched again: $WINDLASS_CACHE, else a folder in the
// user's cache folder, else one in [Home]. It is not created.
func CacheDir() (string, error) {
	if c, err := folderFrom("WINDLASS_CACHE"); c != "" || err != nil {
		return c, err
	}
	if c, err := os.UserCacheDir(); err == nil {
		return filepath.Join(c, "windlass"), nil
	}
	h, err := Home()
	if err != nil {
		return "", err
	}
	return filepath.Join(h, "cache"), nil
}

// SessionDir returns the folder of one session below home.
func SessionDir(home, sessionID string) string { return filepath.Join(SessionsDir(home), sessionID) }

// CommitDir returns the folder below home with what makes sessions durable while they run.
func CommitDir(home string) string { return filepath.Join(home, "commit") }

// MailboxDir returns the folder below home with the signals that are for whichever session waits first.
func MailboxDir(home string) string { return filepath.Join(home, "mailbox") }

// GrantsDir returns the folder of approvals that count for more than their call.
func GrantsDir(home string) string { return filepath.Join(home, "grants") }

// BanksDir returns the folder of the banks of memory.
func BanksDir(home string) string { return filepath.Join(home, "banks") }

// MemosDir returns the folder of memos.
func MemosDir(home string) string { return filepath.Join(home, "memos") }

// ServeDir returns the folder below home with the tokens of servers.
func ServeDir(home string) string { return filepath.Join(home, "serve") }

// SessionsDir returns the folder below home that the sessions are in.
func SessionsDir(home string) string { return filepath.Join(home, "sessions") }
