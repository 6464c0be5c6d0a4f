package echo

import "errors"

// MemoryStart is what of a bank of memory a run sees from its start on. Its key names the bank.
type MemoryStart struct {
	At    uint64 `json:"at"`    // the number of the bank's newest entry
	Files int    `json:"files"` // how many files it has there

	Project string `json:"project,omitempty"` // the project folder that the bank belongs to: 16 hexadecimal digits of the hash of its path
}

// MemoryCall is what a call of the memory tool came to, or a search in a bank. Its key is below that of the call. Below the
// key of a visit it is what the bank has remembered of that. Remembered texts have no path, and their hashes are the ids of
// their versions.
type MemoryCall struct {
	Project  string          `json:"project,omitempty"` // as in [MemoryStart]
	Bank     string          `json:"bank"`              // as the cascade names it
	Command  string          `json:"command"`
	Path     string          `json:"path,omitempty"`
	Text     string          `json:"text"` // what the model is told
	Failed   bool            `json:"failed,omitempty"`
	Conflict bool            `json:"conflict,omitempty"` // another session had written the file since the run saw it
	Read     []MemoryVersion `json:"read,omitempty"`     // whose text the model is told
	Wrote    []MemoryVersion `json:"wrote,omitempty"`
	Seen     []MemorySeen    `json:"seen,omitempty"` // what the run sees from here on otherwise than as of its start
}

// MemorySeen is as of which entry of a bank a run sees a path.
type MemorySeen struct {
	Path string `json:"path"`
	At   uint64 `json:"at"` // the number of the entry
}

// MemoryVersion is one state of a file of a bank.
type MemoryVersion struct {
	Path    string `json:"path"`
	Version string `json:"version"`        // its id in the bank
	Gone    bool   `json:"gone,omitempty"` // the file was deleted there, or has another path since
	From    string `json:"from,omitempty"` // the path that it was renamed from
}

// ProjectFile is a file of the project folder as a run sees it. Its key names its path.
type ProjectFile struct {
	Path    string `json:"path"`           // below the project folder, with slashes
	Hash    Hash   `json:"hash,omitempty"` // of its text; "": it was not there
	Bytes   int    `json:"bytes,omitempty"`
	Text    string `json:"text,omitempty"`    // where the file is short enough, else its headings
	Cut     bool   `json:"cut,omitempty"`     // Text has the headings
	Hidden  string `json:"hidden,omitempty"`  // the first character that nobody sees, as U+001B: Text has escapes for them; "": none
	Problem string `json:"problem,omitempty"` // why it cannot be read
}

func (ProjectFile) kind() kind { return kind{NodeValue, StepProject} }
func (MemoryStart) kind() kind { return kind{NodeValue, StepBank} }
func (MemoryCall) kind() kind  { return kind{NodeValue, StepMemory} }

func (c *MemoryCall) check() error {
	if c.Bank == "" || c.Command == "" {
		return errors.New("it names no bank, or no command")
	}
	return nil
}
