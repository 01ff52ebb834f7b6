from django.urls import path

from annotation.views import grid

urlpatterns = [
    path("p/<slug:slug>/work/", grid.work, name="work"),
    path("p/<slug:slug>/work/next/", grid.next_story, name="next_story"),
    path("p/<slug:slug>/work/<str:story>/", grid.grid, name="grid"),
    path("p/<slug:slug>/work/<str:story>/votes/", grid.save, name="save_votes"),
    path("p/<slug:slug>/work/<str:story>/undo/", grid.undo, name="undo_vote"),
    path("p/<slug:slug>/work/<str:story>/<str:proposition>/comments/<str:dimension>/", grid.comments, name="comments"),
    path("p/<slug:slug>/work/<str:story>/<str:proposition>/flag/", grid.flag, name="flag"),
]
