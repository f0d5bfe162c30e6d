"""One deep bucket of a java.util.HashMap, as the tree that Java makes of it.

A tree's nodes are also linked as a list, in the order in which a table iterates. A new node is
put into the list after its parent in the tree, and the node that is the root after balancing is
moved to the front. So the order can only be found by doing what Java does: a red-black tree, its
insertion and its deletion. Owns that. Does not depend on tables. Source: HashMap.TreeNode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K")

_LEFT: Final = 0
_RIGHT: Final = 1


class _Node(Generic[K]):
    """A node: a key, its links in the tree, and its neighbours in the list."""

    __slots__ = ("child", "following", "key", "parent", "preceding", "rank", "red")

    def __init__(self, key: K, rank: Any) -> None:
        self.key = key
        self.rank = rank
        self.parent: _Node[K] | None = None
        self.child: list[_Node[K] | None] = [None, None]
        self.red = False
        self.following: _Node[K] | None = None
        self.preceding: _Node[K] | None = None

    def side(self) -> int:
        """Return the node's side below its parent: 0 left, 1 right."""
        return _LEFT if self.parent is not None and self.parent.child[_LEFT] is self else _RIGHT


class TreeBin(Generic[K]):
    """The keys of one bucket, iterated in Java's order. `rank`: the tree's sort key, the hash code
    first.
    """

    def __init__(self, keys: Iterable[K], rank: Callable[[K], Any]) -> None:
        self._rank = rank
        self._nodes: dict[K, _Node[K]] = {}
        self._first: _Node[K] | None = None
        self._root: _Node[K] | None = None
        last: _Node[K] | None = None
        for key in keys:
            node = self._nodes[key] = _Node(key, rank(key))
            if last is None:
                self._first = node
            else:
                self._list_behind(last, node)
            self._hang(node)
            last = node
        self._root_to_front()

    def __iter__(self) -> Iterator[K]:
        node = self._first
        while node is not None:
            yield node.key
            node = node.following

    def __len__(self) -> int:
        return len(self._nodes)

    def add(self, key: K) -> None:
        """Add a key that is not present (TreeNode.putTreeVal)."""
        node = self._nodes[key] = _Node(key, self._rank(key))
        self._list_behind(self._parent_for(node), node)
        self._hang(node)
        self._root_to_front()

    def remove(self, key: K) -> bool:
        """Remove a key; return False when so few remain that the bucket becomes a list again, in
        this order (TreeNode.removeTreeNode).
        """
        node = self._nodes.pop(key)
        if node.preceding is None:
            self._first = node.following
        else:
            node.preceding.following = node.following
        if node.following is not None:
            node.following.preceding = node.preceding
        root = self._root
        left = None if root is None else root.child[_LEFT]
        if root is None or root.child[_RIGHT] is None or left is None or left.child[_LEFT] is None:
            return False
        self._unhang(node)
        self._root_to_front()
        return True

    def _parent_for(self, node: _Node[K]) -> _Node[K]:
        parent = below = self._root
        while below is not None:
            parent, below = below, below.child[node.rank > below.rank]
        assert parent is not None
        return parent

    @staticmethod
    def _list_behind(before: _Node[K], node: _Node[K]) -> None:
        node.preceding, node.following = before, before.following
        if before.following is not None:
            before.following.preceding = node
        before.following = node

    def _root_to_front(self) -> None:
        root = self._root
        if root is None or root is self._first:
            return
        assert root.preceding is not None
        root.preceding.following = root.following
        if root.following is not None:
            root.following.preceding = root.preceding
        root.preceding, root.following = None, self._first
        if self._first is not None:
            self._first.preceding = root
        self._first = root

    def _hang(self, node: _Node[K]) -> None:
        """Insert a node into the tree, and rebalance."""
        if self._root is None:
            self._root = node
            return
        parent = self._parent_for(node)
        node.parent = parent
        parent.child[node.rank > parent.rank] = node
        node.red = True
        self._balance_insertion(node)

    def _balance_insertion(self, node: _Node[K]) -> None:
        while True:
            parent = node.parent
            if parent is None:
                node.red = False
                return
            grandparent = parent.parent
            if not parent.red or grandparent is None:
                return
            side = parent.side()
            uncle = grandparent.child[1 - side]
            if uncle is not None and uncle.red:
                uncle.red = parent.red = False
                grandparent.red = True
                node = grandparent
                continue
            if node.side() != side:
                node = parent
                self._rotate(node, side)
                parent = node.parent
                assert parent is not None
            parent.red = False
            grandparent.red = True
            self._rotate(grandparent, 1 - side)

    def _rotate(self, node: _Node[K], side: int) -> None:
        """Rotate: the child on the other side takes the place of `node`, which goes down to `side`."""
        up = node.child[1 - side]
        assert up is not None
        inner = node.child[1 - side] = up.child[side]
        if inner is not None:
            inner.parent = node
        self._replace(node, up)
        up.child[side] = node
        node.parent = up

    def _replace(self, node: _Node[K], other: _Node[K] | None) -> None:
        """Put `other` in the place of `node` below its parent."""
        parent = node.parent
        if other is not None:
            other.parent = parent
        if parent is None:
            self._root = other
        else:
            parent.child[node.side()] = other

    def _unhang(self, node: _Node[K]) -> None:
        """Delete a node from the tree, and rebalance. A node with two children first swaps places
        with its successor.
        """
        successor = node.child[_RIGHT]
        if node.child[_LEFT] is not None and successor is not None:
            while successor.child[_LEFT] is not None:
                successor = successor.child[_LEFT]
            self._swap(node, successor)
        replacement = node.child[_LEFT] or node.child[_RIGHT]
        if replacement is not None:
            self._replace(node, replacement)
            replacement.red = False
        else:
            if not node.red:
                self._balance_deletion(node)
            self._replace(node, None)

    def _swap(self, node: _Node[K], successor: _Node[K]) -> None:
        """Swap the places and colours of a node and its successor."""
        node.red, successor.red = successor.red, node.red
        right_of_successor = successor.child[_RIGHT]
        right = node.child[_RIGHT]
        self_parent, self_side = successor.parent, successor.side()
        self._replace(node, successor)
        if right is successor:
            successor.child[_RIGHT] = node
            node.parent = successor
        else:
            assert self_parent is not None
            assert right is not None
            self_parent.child[self_side] = node
            node.parent = self_parent
            successor.child[_RIGHT] = right
            right.parent = successor
        left = successor.child[_LEFT] = node.child[_LEFT]
        assert left is not None
        left.parent = successor
        node.child = [None, right_of_successor]
        if right_of_successor is not None:
            right_of_successor.parent = node

    def _balance_deletion(self, node: _Node[K]) -> None:
        while True:
            parent = node.parent
            if parent is None or node.red:
                node.red = False
                return
            side = node.side()
            sibling = parent.child[1 - side]
            if sibling is not None and sibling.red:
                sibling.red, parent.red = False, True
                self._rotate(parent, side)
                sibling = parent.child[1 - side]
            assert sibling is not None
            near, far = sibling.child[side], sibling.child[1 - side]
            if not (near is not None and near.red) and not (far is not None and far.red):
                sibling.red = True
                node = parent
                continue
            if not (far is not None and far.red):
                assert near is not None
                near.red, sibling.red = False, True
                self._rotate(sibling, 1 - side)
                sibling, far = near, sibling
            sibling.red = parent.red
            assert far is not None
            far.red = False
            parent.red = False
            self._rotate(parent, side)
            assert self._root is not None
            node = self._root
