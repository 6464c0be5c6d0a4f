package wholefile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ReplaceIn writes a file of a folder that was opened, which no link leads out of. It gets the permissions, and the content is
// on the disk afterwards.
func ReplaceIn(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	made := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text())
	f, err := root.OpenFile(made, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownerOnly)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = errors.Join(f.Chmod(perm), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(made, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(made))
	}
	return nil
}

// WriteNewIn is [WriteNew] for a file of a folder that was opened. Its permissions are those of any file that a person makes.
func WriteNewIn(root *os.Root, name string, data []byte) error {
	reserved, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // the umask decides
	if err != nil {
		return err
	}
	info, err := reserved.Stat()
	if err = errors.Join(err, reserved.Close()); err == nil {
		err = ReplaceIn(root, name, data, info.Mode().Perm())
	}
	if err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}
