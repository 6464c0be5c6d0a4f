package fetch

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"path"
)

// ErrNoMember is returned when an archive does not have the wanted file.
var ErrNoMember = errors.New("the wanted file is not in the archive")

// Member returns the first regular file of a .tar.gz archive whose name, without its folders, is
// wanted, and its size. No name in the archive is used as a path.
func Member(in io.Reader, wanted func(name string) bool) (io.Reader, int64, error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, 0, err
	}
	archive := tar.NewReader(z)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, 0, ErrNoMember
		}
		if err != nil {
			return nil, 0, err
		}
		if h.Typeflag == tar.TypeReg && wanted(path.Base(h.Name)) {
			return archive, h.Size, nil
		}
	}
}
