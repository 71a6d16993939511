package part

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lakesweep/lakesweep/lake"
)

// HeadBytes is how much of a file tells its form.
const HeadBytes = 64 << 10

// Head returns the first HeadBytes of a part, unpacked, and whether they were packed.
func (p *Part) Head(ctx context.Context) (head []byte, packed bool, err error) {
	in, err := p.Open(ctx)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	text, err := in.Text()
	if err != nil {
		return nil, false, err
	}
	buf := make([]byte, HeadBytes)
	n, err := io.ReadFull(text, buf)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, false, p.Damaged(err)
	}
	return buf[:n], text != in.packed, nil
}

// All reads a small part whole, at most limit bytes of it unpacked.
func (p *Part) All(ctx context.Context, limit int64) (data []byte, err error) {
	s, err := p.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	text, err := s.Text()
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(text, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	if err != nil {
		return nil, p.Damaged(err)
	}
	return data, s.Finish()
}

// Spool copies the part to a temporary file without a name, and checks it on the way.
func (p *Part) Spool(ctx context.Context) (f *os.File, err error) {
	s, err := p.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	f, err = os.CreateTemp("", "lakesweep-inventory-")
	if err != nil {
		return nil, p.Failed(lake.Internal, err, "See to free space in the temporary directory (TMPDIR).")
	}
	if err = os.Remove(f.Name()); err == nil {
		_, err = io.Copy(f, s.packed)
	}
	if err = errors.Join(err, s.Finish()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Verify reads the part to its end and checks its size and sum.
func (p *Part) Verify(ctx context.Context) (err error) {
	s, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Finish()
}
