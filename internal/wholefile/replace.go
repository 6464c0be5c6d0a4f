package wholefile

import "errors"

// Replace writes a file that a person names and others may read, at the [Target] of the path. The
// content is on the disk afterwards.
func Replace(path string, data []byte) error {
	path, err := Target(path)
	if err != nil {
		return err
	}
	f, err := Create(path, 0o644)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit()
}
