package embedded

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// definitions are where ClickHouse keeps what databases and tables are, below its data folder. It
// starts with none of them empty.
var definitions = []string{"metadata/*.sql", "store/*/*/*.sql"}

// damageError adds to why ClickHouse did not start which of its files a full disk has left empty,
// and what to do.
func damageError(dir string, err error) error {
	data := dataPath(dir)
	for _, pattern := range definitions {
		names, _ := fs.Glob(os.DirFS(data), pattern) // it is a pattern
		for _, name := range names {
			name = filepath.Join(data, filepath.FromSlash(name))
			if info, statErr := os.Lstat(name); statErr == nil && info.Mode().IsRegular() && info.Size() == 0 {
				return fmt.Errorf("%w: the file %s is empty, as a full disk leaves it. Free space and move the folder %s away; "+
					"then windlass ship --again makes the database anew from the journals on this machine", err, name, data)
			}
		}
	}
	return err
}
