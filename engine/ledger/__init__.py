"""The journal, the records that are folded from it, and the trees and roots over both."""
