class Solution:
    def total(self, a: List[int]) -> int:
        return sum(a)
