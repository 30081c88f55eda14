print("not run here")
