package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	native "github.com/colinmarc/hdfs/v2"
	"github.com/lakesweep/lakesweep/store"
	"golang.org/x/sync/errgroup"
)

// Remove removes a file. The condition holds within this process; others can
// get in between.
func (s *Store) Remove(ctx context.Context, name string, ifMatch string) error {
	return s.fail("remove", name, s.remove(ctx, name, ifMatch))
}

func (s *Store) remove(ctx context.Context, name, ifMatch string) error {
	p, err := s.existing(name)
	if err != nil {
		return err
	}
	return s.do(ctx, func(c *native.Client) error {
		if ifMatch != "" {
			s.writing.Lock()
			defer s.writing.Unlock()
		}
		if err := matches(c, p, ifMatch, false); err != nil {
			return err
		}
		return c.Remove(p)
	})
}

// Delete deletes files by one call each.
func (s *Store) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	if len(targets) > batch {
		return nil, s.fail("delete", "", fmt.Errorf("%d targets in one batch: %w", len(targets), fs.ErrInvalid))
	}
	outcomes := make([]store.Outcome, len(targets))
	var g errgroup.Group
	g.SetLimit(maxConnections)
	for i, t := range targets {
		outcomes[i].Target = t
		g.Go(func() error {
			err := store.ErrUnsupported // there are no versions
			if t.Version == "" {
				err = s.remove(ctx, t.Name, t.IfMatch)
			}
			outcomes[i].Err = s.fail("delete", t.Name, err)
			return nil
		})
	}
	return outcomes, g.Wait()
}

// DeleteDir removes an empty directory; the name node refuses others.
func (s *Store) DeleteDir(ctx context.Context, name string) error {
	return s.fail("remove directory", name, s.deleteDir(ctx, name))
}

func (s *Store) deleteDir(ctx context.Context, name string) error {
	p, err := s.existing(name)
	if err != nil {
		return err
	}
	return s.do(ctx, func(c *native.Client) error {
		info, err := look(c, p, name)
		switch {
		case err != nil:
			return err
		case info.Kind != store.Dir:
			return fmt.Errorf("%q is no directory: %w", name, fs.ErrInvalid)
		}
		return c.Remove(p)
	})
}

// Trash moves a file into the user's trash, from where Hadoop restores or
// expunges it: /user/NAME/.Trash/Current and the file's own path. A file in an
// encryption zone can't be moved there: the name node refuses.
// Source: Hadoop, TrashPolicyDefault.moveToTrash.
func (s *Store) Trash(ctx context.Context, name string) error {
	return s.fail("move to the trash", name, s.trash(ctx, name))
}

func (s *Store) trash(ctx context.Context, name string) error {
	p, err := s.existing(name)
	if err != nil {
		return err
	}
	return s.do(ctx, func(c *native.Client) error {
		info, err := look(c, p, name)
		switch {
		case err != nil:
			return err
		case info.Kind != store.File:
			return fmt.Errorf("%q is no file: %w", name, fs.ErrInvalid)
		}
		trash := "/user/" + c.User() + "/.Trash"
		if strings.HasPrefix(p, trash+"/") {
			return fmt.Errorf("%q is in the trash: %w", name, fs.ErrInvalid)
		}
		dest := path.Join(trash, "Current", p)
		if err := c.MkdirAll(path.Dir(dest), 0o700); err != nil {
			return err
		}
		if _, err := c.Stat(dest); err == nil {
			dest += strconv.FormatInt(time.Now().UnixMilli(), 10)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return c.Rename(p, dest)
	})
}
